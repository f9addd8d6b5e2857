"""The manifest of a run, ``run.json``: as text, read back, and checked to the last value that anybody relies on."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from twin.analysis.estimate import State
from twin.analysis.metrics import LISTS, METRICS, Metric
from twin.errors import RunDirectoryError
from twin.recording import FORMAT_VERSION, TABLES
from twin.scenario import hash_of

MANIFEST = "run.json"
_COUNTS = ("jobs", "jobs_done", "peak_nodes", "checkpoints_written", "peak_writers")
_TOGETHER = (
    ("compute_share", "throttled_share", "stall_share"),
    ("job_stretch_mean", "job_stretch_p95"),
)  # known or unknown together
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0 + 1e-9)]  # a sum of shares may round up


def provenance(manifest: Mapping[str, Any]) -> dict[str, str]:
    """What the metadata of each table says about its run: hash of the scenario, seed, replica, version of racktwin."""
    return {
        "scenario_hash": str(manifest["scenario_hash"]),
        "seed": str(manifest["seed"]),
        "replica": str(manifest["replica"]),
        "racktwin": str(manifest["versions"]["racktwin"]),
    }


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """The manifest as ``run.json`` holds it; a number that is not finite becomes null."""
    return json.dumps(finite(manifest), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def is_run(folder: Path) -> bool:
    """Whether the folder holds a run of any format, damaged or not."""
    try:
        return _is_manifest(json.loads((folder / MANIFEST).read_bytes()))
    except (OSError, ValueError, RecursionError):
        return False


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run directory; a summary number that its version did not know is None.

    Raises:
        RunDirectoryError: not a run directory, one of a newer format, or a manifest with a value that cannot be.
    """
    path = folder / MANIFEST
    text = _text(folder, path)
    try:
        manifest = json.loads(text, parse_constant=_finite_number, parse_float=_finite_number)
    except (ValueError, RecursionError) as error:
        raise RunDirectoryError(damaged(path, f"not JSON: {error}")) from None
    if not _is_manifest(manifest):
        raise RunDirectoryError(
            f"{path}: does not hold the manifest of a run (`format` and `scenario_hash`); "
            "give a folder that `twin run --out` wrote"
        )
    if manifest["format"] > FORMAT_VERSION:
        raise RunDirectoryError(
            f"{folder}: is a run of format {manifest['format']}; this version reads format {FORMAT_VERSION}; "
            "install a newer racktwin"
        )
    if 1 <= manifest["format"] < FORMAT_VERSION:
        raise RunDirectoryError(
            f"{folder}: is a run of format {manifest['format']}, of an earlier version; this one reads format "
            f"{FORMAT_VERSION}; run the scenario again"
        )
    _check(path, text, manifest)
    return {**manifest, "metrics": dict.fromkeys(METRICS) | manifest["metrics"]}


def damaged(path: Path, reason: str) -> str:
    """The message of a file of a run that is not what it was."""
    return f"{path}: {reason}; the run directory is damaged; run the scenario again"


class _Versions(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]
    racktwin: str


class _Store(BaseModel):
    bandwidth: Annotated[float, Field(gt=0.0)]


class _Power(BaseModel):
    cap: Annotated[float, Field(gt=0.0)] | list[Any] | dict[str, Any] | None = None


class _Scenario(BaseModel):
    """The values that a page draws; the hash answers for the rest."""

    seed: Count
    storage: _Store
    power: _Power


class _Default(BaseModel):
    key: str
    mark: str
    source: str
    value: Any


class _Override(BaseModel):
    key: str
    value: Any
    unit: str


class _Promise(BaseModel):
    applies: bool
    why: str


class _Causes(BaseModel):
    in_step_launches: Count
    in_step_triggers: Count


class _Assumptions(BaseModel):
    anonymous: bool
    broken_by: list[str]
    cap_binding_share: float | None
    common_cause: _Causes
    promises: dict[str, _Promise]


def _kind(metric: Metric) -> Any:
    """The type of a summary number, which may be missing or null."""
    if metric.name in _COUNTS:
        return Count | None
    if metric.name in LISTS:
        return list[Share] | None
    return dict[str, float | None] | None if metric.is_by_group or metric.is_by_feeder else float | None


_NUMBERS: dict[str, Any] = {name: (_kind(metric), None) for name, metric in METRICS.items()}
_Numbers = create_model("_Numbers", **_NUMBERS)
_NumbersOfRun = create_model("_NumbersOfRun", __base__=_Numbers, horizon_s=(Seconds, ...), jobs=(Count, ...))
_NumbersOfForm = create_model("_NumbersOfForm", __base__=_Numbers, writers_share_at_least=(list[Share], ...))


class _ProductForm(BaseModel):
    metrics: _NumbersOfForm
    states: list[State]


class _Window(BaseModel):
    start_s: Seconds
    end_s: Seconds
    jobs: Count
    because: str
    product_form: _ProductForm | None


class _Estimate(BaseModel):
    verdict: str
    because: str
    fleet: _Numbers | None = None  # a run of an earlier version has none
    product_form: _ProductForm | None
    windows: list[_Window]


class _Manifest(BaseModel):
    format: Annotated[int, Field(ge=1)]
    status: Literal["complete"]
    name: str
    question: str | None
    answer: str | None
    seed: Count
    replica: Count
    lane: str
    versions: _Versions
    scenario: _Scenario
    scenario_hash: str
    defaults: list[_Default]
    overrides: list[_Override] = []  # a run of an earlier version has neither these nor an estimate
    simulated_end_s: Seconds
    stopped_by: str
    rows: dict[str, Count]
    assumptions: _Assumptions
    metrics: _NumbersOfRun
    estimate: _Estimate | None = None
    import_report: dict[str, Any] | None
    warnings: list[str]


def _check(path: Path, text: str, manifest: Mapping[str, Any]) -> None:
    try:
        _Manifest.model_validate_json(text, strict=True)  # "1" and true are no numbers
        if (report := manifest["import_report"]) is not None:
            _check_import_report(report)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RunDirectoryError(damaged(path, f"`{_dotted(first['loc'])}`: {_rule(first)}")) from None
    if unknown := sorted(manifest["rows"].keys() - TABLES.keys()):
        raise RunDirectoryError(damaged(path, f"`rows` names {unknown[0]!r}, which is no table of a run"))
    for claim, holds in _agreements(manifest):
        if not holds:
            raise RunDirectoryError(damaged(path, claim))


def _agreements(manifest: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """What is said twice, and whether it is the same."""
    scenario, metrics = manifest["scenario"], manifest["metrics"]
    yield "`scenario_hash` is not that of `scenario`", hash_of(scenario) == manifest["scenario_hash"]
    yield "`seed` is not that of `scenario`", scenario["seed"] == manifest["seed"]
    yield "`simulated_end_s` is not `metrics.horizon_s`", manifest["simulated_end_s"] == metrics["horizon_s"]
    for names in _TOGETHER:
        known = {metrics.get(name) is not None for name in names}
        yield f"of `metrics.{names[0]}` and {', '.join(names[1:])} some are missing", len(known) == 1
    is_counted = metrics.get("job_stretch_mean") is None or metrics.get("jobs_done") is not None
    yield "`metrics.jobs_done` is missing, but there is a mean over those jobs", is_counted
    tails = [len(tail) for name in LISTS if (tail := metrics.get(name)) is not None]
    yield f"`metrics.{LISTS[0]}` and its like for independent phases differ in length", len({*tails}) <= 1


def _check_import_report(report: Mapping[str, Any]) -> None:
    from twin.io.launch_logs.import_report import ImportReport  # with pandas, which only launch logs need

    TypeAdapter(ImportReport).validate_json(json.dumps(report), strict=True)


def _rule(found: Mapping[str, Any]) -> str:
    if found["type"] == "missing":
        return "is missing"
    message = str(found["msg"])
    return f"{message[:1].lower()}{message[1:]}"


def _dotted(places: Sequence[str | int]) -> str:
    return "".join(f"[{place}]" if isinstance(place, int) else f".{place}" for place in places).removeprefix(".")


def _text(folder: Path, path: Path) -> str:
    try:
        if not folder.is_dir():
            problem = "is not a folder" if folder.exists() else "does not exist"
            raise RunDirectoryError(
                f"{folder}: {problem}; a run directory is what `twin run --out` wrote; check the path"
            )
        if not path.is_file():
            raise RunDirectoryError(
                f"{folder}: has no {MANIFEST}, so it is not a run directory; give a folder that `twin run --out` wrote"
            )
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: bytes that are no text, or a name with a NUL
        reason = getattr(error, "strerror", None) or error
        raise RunDirectoryError(damaged(path, f"cannot be read: {reason}")) from error


def _is_manifest(found: Any) -> bool:
    return isinstance(found, dict) and type(found.get("format")) is int and "scenario_hash" in found


def _finite_number(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text} is no number of a run")
    return value


def finite(value: Any) -> Any:
    """The value with null in place of every number that is not finite, as JSON can hold it."""
    if isinstance(value, Mapping):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
