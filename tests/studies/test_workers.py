"""Worker processes: no task is lost when they die, a scheduler is lost in words, and nothing outlives the block."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from twin.errors import TwinError
from twin.studies.workers import workers


def square(number):
    return number * number


def who(_number):
    time.sleep(0.02)
    return os.getpid()


def refuse_seven(number):
    if number == 7:
        raise ValueError("seven")
    return number


def die_at_three(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("count", [0, 1, 2, None])
def test_every_task_is_done_once_and_its_result_has_its_place(count):
    with workers(count) as pool:
        found = list(pool.map(square, range(50)))

    assert sorted(found) == [(number, number * number) for number in range(50)]


@pytest.mark.parametrize("count", [0, 1])
def test_a_task_that_fails_fails_alone(count):
    with workers(count) as pool:
        found = dict(pool.map(refuse_seven, range(12)))

    assert isinstance(found.pop(7), ValueError)
    assert found == {number: number for number in range(12) if number != 7}


def test_a_worker_that_is_killed_costs_no_result():
    with workers(2) as pool:
        found = {}
        for place, pid in pool.map(who, range(60)):
            found[place] = pid
            if len(found) in (10, 30):
                os.kill(pid, signal.SIGKILL)

    assert sorted(found) == list(range(60))
    assert all(isinstance(pid, int) for pid in found.values())
    assert len(set(found.values())) > 2  # others took their places


def test_a_task_that_kills_every_worker_fails_alone():
    with workers(2) as pool:
        found = dict(pool.map(die_at_three, range(12)))

    assert "worker processes died" in str(found.pop(3))
    assert found == {number: number for number in range(12) if number != 3}


def test_no_worker_outlives_the_block():
    with workers(2) as pool:
        pids = {pid for _, pid in pool.map(who, range(10))}

    deadline = time.monotonic() + 10.0
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, pids))


def test_few_tasks_start_no_process():
    with workers(None) as pool:
        assert {pid for _, pid in pool.map(who, range(3))} == {os.getpid()}


@contextmanager
def cluster(count):
    """The address of a scheduler of our own with so many workers, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    commands = [["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]]
    if count:
        options = ["--nthreads", "1", "--nworkers", str(count), "--no-dashboard", "--death-timeout", "20"]
        commands.append(["distributed.cli.dask_worker", address, *options])
    started = [subprocess.Popen([sys.executable, "-m", *command], **quiet) for command in commands]
    try:
        yield address, started[0]
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(20)


def test_the_workers_of_a_running_cluster_do_the_tasks_and_its_loss_is_told_within_ten_seconds():
    with cluster(2) as (address, scheduler), workers(None, address) as pool:
        assert dict(pool.map(square, range(20))) == {number: number * number for number in range(20)}
        results, pids = pool.map(who, range(500)), set()
        for _ in range(20):
            pids.add(next(results)[1])
        scheduler.kill()
        killed_s = time.monotonic()
        with pytest.raises(TwinError, match="connection to the scheduler is lost"):
            list(results)
        assert time.monotonic() - killed_s < 10.0  # the contract
        with pytest.raises(TwinError, match="connection to the scheduler is lost"):
            dict(pool.map(who, range(500)))
        assert os.getpid() not in pids


def test_a_scheduler_that_cannot_be_reached_is_told_within_fifteen_seconds():
    began_s = time.monotonic()
    with pytest.raises(TwinError, match="cannot be reached"), workers(None, "tcp://127.0.0.1:9"):
        pass
    assert time.monotonic() - began_s < 15.0  # the contract


def test_a_cluster_without_workers_says_how_to_start_some():
    with cluster(0) as (address, _), pytest.raises(TwinError, match="has no workers"), workers(None, address):
        pass


def test_a_port_that_listens_and_says_nothing_is_no_scheduler():
    began_s = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TwinError, match="not as a scheduler"), workers(None, address):
            pass
    assert time.monotonic() - began_s < 15.0  # the contract


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "http://127.0.0.1:80", ""])
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(TwinError, match="no address of a scheduler"), workers(None, address):
        pass
