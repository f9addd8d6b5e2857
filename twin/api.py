"""The public interface: load a scenario, simulate it, keep the recording, open it again."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from twin import recording
from twin.analysis.assumptions import assumptions
from twin.analysis.estimate import Estimate
from twin.analysis.estimate import estimate as estimate_of
from twin.analysis.incidents import above_cap, incidents
from twin.analysis.metrics import Value
from twin.analysis.summary import summarise
from twin.errors import ScenarioError, TwinError
from twin.fleet import Job, jobs_of
from twin.io import manifest, run_directory, scenario_files
from twin.io.strict_yaml import shown
from twin.recording import FORMAT_VERSION, TABLES, MemoryTable, Outcome, Sink, Source, schema
from twin.scenario import Scenario, cap_faults, defaulted, resolved, scenario_hash

if TYPE_CHECKING:
    from twin.sim.simulate import Watch

ENGINES = ("auto", "simpy")
MAX_REPLICA = 2**63 - 1  # a whole number of any program that reads the run
_MOST_SHOWN = 80
_PACKAGES = ("racktwin", "simpy", "numpy", "pandas", "pyarrow", "pydantic", "PyYAML")


class Recording(recording.Recording):
    """A finished run: its manifest (the content of ``run.json``) and its tables."""

    def save(self, folder: str | Path, force: bool = False) -> None:
        """Write the run directory ``folder``; ``force`` replaces a run directory that is there.

        Raises:
            RunDirectoryError: the name is taken, or the folder cannot be written.
        """
        run_directory.save(self, _path(folder, "folder", "the run directory"), force=force)


def load(
    source: str | Path | Mapping[str, Any], overrides: Sequence[str] = (), *, variant: str | None = None
) -> Scenario:
    """The scenario of a YAML file, or of a mapping with the same keys.

    Args:
        overrides: ``key=value``, as in ``power.cap=12MW``; checked like the file, and recorded by a run.
        variant: name of the variant to load instead, one of ``scenario.variants``; the overrides are set on top of it.
    Raises:
        ScenarioError: every fault found, with file, line, key, value, rule and remedy.
        TwinError: neither a path nor a mapping, or overrides that are no texts.
    """
    if isinstance(overrides, str) or not all(isinstance(text, str) for text in _listed(overrides, "overrides")):
        raise TwinError(f"overrides: {_shown(overrides)}: must be a list of texts; write it as in ['power.cap=12MW']")
    if isinstance(source, Mapping):
        return scenario_files.from_mapping(dict(source), overrides, variant)
    return scenario_files.read(
        _path(source, "source", "a scenario file, or a mapping with its keys"), overrides, variant
    )


def simulate(
    scenario: Scenario,
    engine: str = "auto",
    *,
    replica: int = 0,
    tables: Collection[str] | None = None,
    max_events: int | None = None,
    watch: Watch | None = None,
) -> Recording:
    """The recording of a run, in memory.

    Args:
        engine: "simpy", or "auto" for the one that suits.
        replica: number of an independent repetition; other replicas meet other luck.
        tables: names of the tables to record; default all.
        max_events: events after which a run that has not ended is given up; default no limit.
        watch: called now and then with the simulated time [s], the events so far, and the share of the run done.
    Raises:
        TwinError: an argument that is none of these, a launch log that cannot be read, a fleet that can never move
            again, or a run of more than ``max_events``.
    """
    plan = _plan(scenario, engine, replica, tables, max_events)
    sink = _memory(plan)
    return Recording(_execute(plan, sink, max_events, watch), sink.tables)


def run(
    scenario: Scenario,
    out: str | Path,
    *,
    force: bool = False,
    engine: str = "auto",
    replica: int = 0,
    tables: Collection[str] | None = None,
    max_events: int | None = None,
    watch: Watch | None = None,
) -> Recording:
    """The recording of a run, streamed into the run directory ``out`` in memory that does not grow with the run.

    Args:
        out: the run directory, which appears complete or not at all.
        force: replace a run directory that is there.
        engine, replica, tables, max_events, watch: as in ``simulate``.
    Raises:
        RunDirectoryError: the name is taken, or the folder cannot be written.
        TwinError: as in ``simulate``.
    """
    folder = _path(out, "out", "the run directory")
    plan = _plan(scenario, engine, replica, tables, max_events)
    with run_directory.writer(folder, plan.provenance, tables=plan.tables, force=force) as sink:
        sink.commit(_execute(plan, sink, max_events, watch))
    return open_run(folder)


def measure(
    scenario: Scenario, replica: int = 0, *, engine: str = "auto", max_events: int | None = None
) -> dict[str, Value]:
    """The summary numbers of a run, which is not kept: those of ``metrics`` in its manifest, to the last bit.

    Args:
        replica, engine, max_events: as in ``simulate``.
    Raises:
        TwinError: as in ``simulate``.
    """
    plan = _plan(scenario, engine, replica, None, max_events)
    _, _, metrics = _simulated(plan, _memory(plan), max_events, None)
    return metrics


def estimate(scenario: Scenario, *, replica: int = 0) -> Estimate:
    """Shares of time with k writers, checkpoint times, goodput and power by the product form, without simulating.

    Args:
        replica: as in ``simulate``.
    Returns:
        The numbers, and whether they are exact for this scenario, an average, or not applicable, and why.
    Raises:
        TwinError: a launch log that cannot be read, or jobs that do not fit under the cap.
    """
    _check_scenario(scenario)
    jobs, _ = _fleet(scenario, whole(replica, "replica", 0, MAX_REPLICA))
    return estimate_of(scenario, jobs)


def import_report(scenario: Scenario) -> dict[str, Any] | None:
    """How the launch log of a scenario became jobs, as in ``run.json``; None for a scenario without one.

    Raises:
        TwinError: the log cannot be read, or its jobs do not fit under the cap.
    """
    _check_scenario(scenario)
    return _fleet(scenario, 0)[1]


def open_run(folder: str | Path) -> Recording:
    """The recording of a run directory; its tables stay on disk until they are asked for.

    Raises:
        RunDirectoryError: not a run directory, one of a newer format, or a damaged one.
    """
    found = run_directory.open_run(_path(folder, "folder", "a run directory"))
    return Recording(found.manifest, found.sources)


class _Memory:
    """The sink of a run that is kept in memory."""

    def __init__(self, tables: dict[str, MemoryTable]) -> None:
        self.tables = tables

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        self.tables[table].append(batch)

    def finish(self) -> Mapping[str, Source]:
        return self.tables


def _memory(plan: _Plan) -> _Memory:
    return _Memory({table: MemoryTable(schema(table, plan.provenance)) for table in plan.tables})


class _FinishingSink(Sink, Protocol):
    """A sink that can be read once the run is over."""

    def finish(self) -> Mapping[str, Source]: ...


@dataclass(frozen=True, slots=True)
class _Plan:
    """All that is known of a run before its first event; ``identity`` opens its manifest."""

    scenario: Scenario
    jobs: list[Job]
    tables: tuple[str, ...]
    identity: dict[str, Any]
    import_report: dict[str, Any] | None
    warnings: list[str]

    @property
    def provenance(self) -> dict[str, str]:
        return manifest.provenance(self.identity)


def _plan(
    scenario: Scenario, engine: str, replica: int, tables: Collection[str] | None, max_events: int | None
) -> _Plan:
    _check_scenario(scenario)
    _check_engine(engine)
    if max_events is not None:
        whole(max_events, "max_events", 1, None)
    replica = whole(replica, "replica", 0, MAX_REPLICA)
    chosen = _chosen(tables)
    jobs, report = _fleet(scenario, replica)
    warnings = [*scenario.warnings(), *(report or {}).get("warnings", ())]
    return _Plan(scenario, jobs, chosen, _identity(scenario, replica), report, warnings)


def _fleet(scenario: Scenario, replica: int) -> tuple[list[Job], dict[str, Any] | None]:
    """The jobs of a scenario, and the report of reading its launch log; None without one."""
    schedule, report = None, None
    if scenario.replay is not None:
        from twin.io.launch_logs import read_schedule  # with pandas, which only launch logs need

        schedule, imported = read_schedule(scenario.replay, scenario._folder)
        report = asdict(imported)
    jobs = jobs_of(scenario, schedule, replica)
    if faults := cap_faults(scenario.power, [(job.name, job.places, job.power.idle_w) for job in jobs]):
        raise ScenarioError(faults)
    return jobs, report


def _check_scenario(scenario: Scenario) -> None:
    if not isinstance(scenario, Scenario):
        raise TwinError(
            f"scenario: {_shown(scenario)}: must be a twin.Scenario; make one of a file or of a mapping with twin.load"
        )


def whole(value: int, name: str, least: int, most: int | None) -> int:
    """An argument that is a whole number within its bounds; True is none.

    Raises:
        TwinError: anything else.
    """
    if (
        isinstance(value, Integral)
        and not isinstance(value, bool)
        and least <= value
        and (most is None or value <= most)
    ):
        return int(value)
    bounds = f"from {least} on" if most is None else f"from {least} to {most}"
    raise TwinError(f"{name}: {_shown(value)}: must be a whole number {bounds}; give such a number, or leave it out")


def _path(value: str | Path, name: str, meaning: str) -> Path:
    if not isinstance(value, str | os.PathLike):
        raise TwinError(f"{name}: {_shown(value)}: must be a path; give that of {meaning}")
    return Path(value)


def _listed(values: Collection[str], name: str) -> Collection[str]:
    if not isinstance(values, Collection):
        raise TwinError(f"{name}: {_shown(values)}: must be a list of texts; give a list, or leave it out")
    return values


def _shown(value: object) -> str:
    """A wrong argument, on one line of bounded length."""
    return shown(repr(value), _MOST_SHOWN)


def _check_engine(engine: str) -> None:
    if engine == "compiled":
        raise TwinError(f"engine 'compiled': there is no compiled lane yet; use one of {', '.join(ENGINES)}")
    if engine not in ENGINES:
        raise TwinError(f"engine {_shown(engine)}: unknown; use one of {', '.join(ENGINES)}")


def _chosen(tables: Collection[str] | None) -> tuple[str, ...]:
    """The tables to record, in the order of ``TABLES``."""
    if tables is None:
        return tuple(TABLES)
    names = [tables] if isinstance(tables, str) else list(_listed(tables, "tables"))
    for name in names:
        if not isinstance(name, str) or name not in TABLES:
            raise TwinError(f"tables: {_shown(name)}: is no table of a run; use some of {', '.join(TABLES)}")
    return tuple(name for name in TABLES if name in names)


@cache
def _versions() -> Mapping[str, str]:
    """Of Python and the packages that have a say in the numbers; looked up once, since that takes longer than a run."""
    return {"python": platform.python_version()} | {package: version(package) for package in _PACKAGES}


def _identity(scenario: Scenario, replica: int) -> dict[str, Any]:
    """What tells this run from any other, as the head of its manifest."""
    return {
        "format": FORMAT_VERSION,
        "status": "complete",
        "name": scenario.name,
        "question": scenario.question,
        "answer": scenario.answer,
        "seed": scenario.seed,
        "replica": replica,
        "lane": "simpy",
        "versions": dict(_versions()),
        "scenario": resolved(scenario),
        "scenario_hash": scenario_hash(scenario),
        "defaults": defaulted(scenario),
        "overrides": list(scenario._overrides),
    }


def _simulated(
    plan: _Plan, sink: _FinishingSink, max_events: int | None, watch: Watch | None
) -> tuple[Outcome, Recording, dict[str, Value]]:
    """Run it into the sink: how that went, the tables with the identity of the run, and its summary numbers."""
    from twin.sim.simulate import simulate as simulate_with_simpy  # an estimate does without SimPy

    outcome = simulate_with_simpy(
        plan.scenario, plan.jobs, sink, plan.provenance, tables=plan.tables, max_events=max_events, watch=watch
    )
    recorded = Recording(plan.identity, sink.finish())
    metrics = summarise(plan.scenario, plan.jobs, recorded, outcome.end_s)
    return outcome, recorded, manifest.finite(metrics)


def _execute(plan: _Plan, sink: _FinishingSink, max_events: int | None, watch: Watch | None) -> dict[str, Any]:
    """Run it into the sink; what comes out is the manifest."""
    outcome, recorded, metrics = _simulated(plan, sink, max_events, watch)
    found = plan.identity | {
        "simulated_end_s": outcome.end_s,
        "stopped_by": outcome.stopped_by,
        "rows": {table: outcome.rows[table] for table in plan.tables},
        "assumptions": assumptions(plan.scenario, plan.jobs, metrics),
        "metrics": metrics,
        "estimate": estimate_of(plan.scenario, plan.jobs).as_dict(),
        "import_report": plan.import_report,
        "warnings": [*plan.warnings, *incidents(plan.scenario, recorded), *above_cap(plan.scenario, metrics)],
    }
    as_read_back: dict[str, Any] = json.loads(manifest.manifest_text(found))
    return as_read_back
