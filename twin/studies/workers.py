"""Many tasks on worker processes: none, some of this machine, or those of a running Dask cluster.

Source: M. Rocklin, Dask, Proc. 14th Python in Science Conf., 2015; the library ``distributed``.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from math import inf
from multiprocessing import resource_tracker
from time import monotonic
from typing import Any, Protocol, TypeVar

from twin.errors import TwinError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Batch = tuple[list[_Result | Exception], float]

_START_S = 3.0  # until worker processes of this machine take tasks
_REACH_S = 8.0  # in which a scheduler has to answer
_WORKERS_S = 4.0  # in which it has to have some
_GONE_S = 30.0  # without a result, after which somebody asks whether there are workers at all
_LOST_S = 5.0  # without the scheduler, after which it is given up
_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss)://)?[^\s/]+:\d+")
_LOOK_S = 0.25  # between looks at the connection
_AHEAD = 3  # batches a worker has at hand, so that it never waits, and memory stays bounded
_BATCH_S = 0.5  # of work in a batch: some milliseconds go into handing it out
_LEAST_S = 1e-5
_DEATHS = 2  # of workers a task was there at, after which it is under suspicion
_CONFIGURATION = {
    "distributed.scheduler.allowed-failures": _DEATHS,
    "distributed.comm.timeouts.connect": f"{_REACH_S:.0f}s",
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.profile.enabled": False,  # it would sample the simulator a hundred times a second
    "distributed.admin.system-monitor.interval": "10s",
    # One numeric thread each; and no MALLOC_TRIM_THRESHOLD_, with which every large array would be mapped anew.
    "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1, "MKL_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1},
    "distributed.admin.tick.limit": "1h",  # a busy client is no news
}


class Workers(Protocol):
    """Whoever does tasks."""

    def map(
        self, function: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[tuple[int, _Result | Exception]]:
        """The result of each item, or the exception that it raised, with the item's place, as they are done.

        Raises:
            TwinError: the scheduler was lost.
        """
        ...


@contextmanager
def workers(count: int | None = None, scheduler: str | None = None) -> Iterator[Workers]:
    """Worker processes, ended with the block.

    Args:
        count: of this machine; 0 for none, which does the tasks here; None for one a core, started only once the tasks
            turn out to be worth it.
        scheduler: address of a running Dask cluster instead, as in ``tcp://10.0.0.1:8786``.
    Raises:
        TwinError: the scheduler cannot be reached, or its workers cannot take the tasks.
    """
    with ExitStack() as stack:
        if scheduler is not None:
            yield stack.enter_context(_running_cluster(scheduler))
        elif count == 0:
            yield _Here()
        elif count is not None:
            yield stack.enter_context(_own_cluster(count))
        else:
            yield _WhenWorthIt(stack)


class _Here:
    """Does the tasks itself, one after the other."""

    def map(
        self, function: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[tuple[int, _Result | Exception]]:
        for place, item in enumerate(items):
            yield place, _outcome(function, item)


class _WhenWorthIt:
    """Does the first tasks itself, and leaves the rest to processes if that is faster, their start included."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._cluster: _Cluster | None = None
        self._cores = os.cpu_count() or 1

    def map(
        self, function: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[tuple[int, _Result | Exception]]:
        done, began_s = 0, monotonic()
        while done < len(items) and self._cluster is None:
            yield done, _outcome(function, items[done])
            done += 1
            left_s = (monotonic() - began_s) / done * (len(items) - done)
            if self._cores > 1 and left_s / self._cores + _START_S < left_s:
                self._cluster = self._stack.enter_context(_own_cluster(self._cores))
        if self._cluster is not None:
            for place, result in self._cluster.map(function, items[done:]):
                yield done + place, result


class _Cluster:
    """The workers of a Dask cluster.

    Args:
        client: connected to its scheduler.
        place: of the scheduler, to name it in an error.
    """

    def __init__(self, client: Any, place: str) -> None:
        self._client = client
        self._place = place

    def map(
        self, function: Callable[[_Item], _Result], items: Sequence[_Item]
    ) -> Iterator[tuple[int, _Result | Exception]]:
        suspects: list[int] = []  # tasks whose workers died: perhaps of the task beside them
        for place, result in self._done(function, list(enumerate(items)), self._threads()):
            if isinstance(result, _WorkersDied):
                suspects.append(place)
            else:
                yield place, result
        for place in suspects:  # one at a time, so that one that kills its worker fails alone
            yield from self._done(function, [(place, items[place])], 1)

    def _done(
        self, function: Callable[[_Item], _Result], tasks: Sequence[tuple[int, _Item]], threads: int
    ) -> Iterator[tuple[int, _Result | Exception]]:
        """The outcomes of tasks by their places, handed out in batches, of which so many threads have enough."""
        executor = self._client.get_executor(pure=False)
        running: dict[Future[_Batch[_Result]], Sequence[int]] = {}
        given, took_s = 0, inf
        connected_s = moved_s = monotonic()
        while given < len(tasks) or running:
            while given < len(tasks) and len(running) < _AHEAD * threads:
                size = max(1, min(int(_BATCH_S / took_s), (len(tasks) - given) // (_AHEAD * threads)))
                batch = tasks[given : given + size]
                future = executor.submit(_outcomes, function, [item for _, item in batch])
                running[future] = [place for place, _ in batch]
                given += size
            done, _ = wait(running, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
            if done:
                moved_s = monotonic()
            elif monotonic() - moved_s > _GONE_S:
                moved_s = monotonic()
                self._check_anybody_is_there()
            if self._client.status == "running":
                connected_s = monotonic()
            elif monotonic() - connected_s > _LOST_S:
                raise self._lost()
            for future in done:
                places = running.pop(future)
                error = _failure(future)
                if isinstance(error, CancelledError):  # with the scheduler it hung on
                    raise self._lost()
                if error is not None:
                    yield from ((place, error) for place in places)
                    continue
                outcomes, span_s = future.result()
                took_s = max(_LEAST_S, span_s / len(places))
                yield from zip(places, outcomes, strict=True)

    def _threads(self) -> int:
        if self._client.status != "running":
            raise self._lost()
        try:
            return max(1, sum(map(int, self._client.nthreads().values())))
        except Exception:  # of many kinds, and all mean the same
            raise self._lost() from None

    def _check_anybody_is_there(self) -> None:
        if self._client.status == "running" and not self._client.nthreads():
            raise TwinError(f"{self._place}: has no workers left; start some with `dask worker`")

    def _lost(self) -> TwinError:
        return TwinError(f"{self._place}: the connection to the scheduler is lost")


class _WorkersDied(TwinError):
    """A task was there each time when several workers died."""


def _outcome(function: Callable[[_Item], _Result], item: _Item) -> _Result | Exception:
    """What the task gives, or the exception that it raises."""
    try:
        return function(item)
    except Exception as error:  # whatever it is, the other tasks go on
        return error


def _outcomes(function: Callable[[_Item], _Result], items: Sequence[_Item]) -> _Batch[_Result]:
    """The outcomes of a batch, and how long it took [s]."""
    began_s = monotonic()
    return [_outcome(function, item) for item in items], monotonic() - began_s


def _failure(future: Future[Any]) -> Exception | None:
    """Why the task has no outcome at all; None if it has one."""
    try:
        error = future.exception()
    except CancelledError as cancelled:
        return cancelled
    if type(error).__name__ == "KilledWorker":
        return _WorkersDied("worker processes died whenever they did this task; it may need too much memory")
    return error if error is None or isinstance(error, Exception) else TwinError(str(error))


@contextmanager
def _own_cluster(count: int) -> Iterator[_Cluster]:
    """Worker processes of this machine, one thread each, heard by nobody else."""
    import dask
    from distributed import Client, LocalCluster

    with _silence(), dask.config.set(_CONFIGURATION), ExitStack() as stack:
        try:
            with _children_deaf_to_interrupts():
                cluster = stack.enter_context(
                    LocalCluster(
                        n_workers=count,
                        threads_per_worker=1,
                        processes=True,
                        host="127.0.0.1",
                        dashboard_address="127.0.0.1:0",  # any free port, and for nobody else
                        memory_limit=0,
                        silence_logs=logging.CRITICAL,
                    )
                )
        except (RuntimeError, OSError) as error:
            raise TwinError(
                f"worker processes: cannot be started: {error}; do without them with --workers 0 (processes=0); a "
                'script that asks for them has to be a file, and to begin its work under `if __name__ == "__main__":`'
            ) from None
        yield _Cluster(stack.enter_context(Client(cluster)), "worker processes")


@contextmanager
def _children_deaf_to_interrupts() -> Iterator[None]:
    """Threads begun within, and the processes that they start, hear of no SIGINT: Ctrl-C is for the command alone.

    A terminal sends it to all of them, and each worker would answer with a traceback. One that comes meanwhile waits
    for the end of the block.
    """
    resource_tracker.ensure_running()  # or the first process would be started by a thread that this unblocks again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _running_cluster(scheduler: str) -> Iterator[_Cluster]:
    import dask
    from distributed import Client

    if not _ADDRESS.fullmatch(scheduler):
        raise TwinError(f"--scheduler {scheduler}: is no address of a scheduler; write it as in tcp://10.0.0.1:8786")
    _check_answers(scheduler)
    with _silence(), dask.config.set(_CONFIGURATION):
        try:
            client = Client(scheduler, timeout=_REACH_S, set_as_default=False)
        except Exception as error:
            reason = str(error).split("\n")[0] or type(error).__name__
            raise TwinError(
                f"--scheduler {scheduler}: cannot be reached: {reason}; check the address, as in tcp://10.0.0.1:8786, "
                "and that `dask scheduler` runs there"
            ) from None
        try:
            _check_workers(client, scheduler)
            yield _Cluster(client, f"--scheduler {scheduler}")
        finally:
            client.close(timeout=1)


def _check_answers(scheduler: str) -> None:
    """Refuse a port that takes connections and says nothing: a scheduler speaks first, and the library waits for ever.

    One that cannot be connected to at all is left to the library, which tries for a while.
    """
    kind, _, place = scheduler.rpartition("://")
    if kind not in ("", "tcp"):
        return
    host, _, port = place.rpartition(":")
    with suppress(OSError), socket.create_connection((host.strip("[]"), int(port)), _WORKERS_S) as connection:
        try:
            connection.settimeout(_WORKERS_S)
            connection.recv(1)
        except TimeoutError:
            raise TwinError(
                f"--scheduler {scheduler}: cannot be reached: something listens there, but not as a scheduler; check "
                "the address, and that `dask scheduler` runs there"
            ) from None


def _check_workers(client: Any, scheduler: str) -> None:
    """Refuse a cluster whose workers would do other tasks than ours."""
    own = version("racktwin")
    try:
        client.wait_for_workers(1, timeout=_WORKERS_S)
        found = set(client.run(version, "racktwin").values())
    except TimeoutError:
        raise TwinError(f"--scheduler {scheduler}: has no workers; start some with `dask worker {scheduler}`") from None
    except Exception as error:
        raise TwinError(
            f"--scheduler {scheduler}: its workers cannot run racktwin: {error}; install racktwin {own} for them"
        ) from None
    if others := sorted(found - {own}):
        raise TwinError(
            f"--scheduler {scheduler}: its workers run racktwin {', '.join(others)}, this is {own}; install the same "
            "version everywhere"
        )


@contextmanager
def _silence() -> Iterator[None]:
    """What the libraries have to say of workers that come and go is none of a user's business.

    Some of their loggers have levels of their own, so each one that there is is silenced.
    """
    talkers = ("distributed", "tornado", "asyncio")
    known = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in talkers]
    loggers = [logging.getLogger(name) for name in dict.fromkeys([*talkers, *known])]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
