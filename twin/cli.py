"""Arguments in, exit code out: 0 done, 1 a check failed, 2 bad input, 130 interrupted. The only place that prints."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from twin.errors import ScenarioError, TwinError

if TYPE_CHECKING:
    from twin.scenario import Scenario

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141  # as a shell counts a command that a closed pipe ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. Bad input ends with a message on stderr, never with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 must not end a run
    try:
        code = cli.main(args=None if arguments is None else list(arguments), prog_name="twin", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = INTERRUPTED
    return code if isinstance(code, int) else 0


class _Commands(click.Group):
    """A group of commands whose errors become messages and exit codes."""

    def invoke(self, context: click.Context) -> Any:
        try:
            result = super().invoke(context)
            sys.stdout.flush()
        except TwinError as error:
            click.echo(str(error), err=True)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python's last flush fails again
            context.exit(BROKEN_PIPE)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            click.echo(
                f"{place}{error.strerror or error}; check the file, its permissions and the space left", err=True
            )
        else:
            return result
        context.exit(BAD_INPUT)


_overrides = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a value of the scenario, as in power.cap=12MW or jobs.llm.nodes=64; null removes it. Repeatable.",
)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="racktwin", prog_name="twin", message="%(prog)s %(version)s")
def cli() -> None:
    """A digital twin of a datacenter that runs large training jobs."""


@cli.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_overrides
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else, on stdout.")
@click.pass_context
def validate(context: click.Context, files: tuple[str, ...], overrides: tuple[str, ...], as_json: bool) -> None:
    """Check scenario files; exit 2 if one cannot be run."""
    from twin.io.scenario_files import read

    verdicts = []
    for file in files:
        try:
            scenario = read(file, overrides)
        except ScenarioError as error:
            click.echo(str(error), err=True)
            verdicts.append({"file": file, "valid": False, "faults": [_fault(fault) for fault in error.faults]})
            continue
        warnings = scenario.warnings()
        verdicts.append({"file": file, "valid": True, "faults": [], "warnings": warnings})
        _warn(warnings, file)
        if not as_json:
            click.echo(f"{file}: valid: {_contents(scenario)}")
    if as_json:
        _print_json(verdicts)
    if not all(verdict["valid"] for verdict in verdicts):
        context.exit(BAD_INPUT)


@cli.command()
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from twin.scenario import Scenario

    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    _print_json(dialect | Scenario.model_json_schema(by_alias=True))


@cli.command()
@click.argument("scenario_file", metavar="SCENARIO")
@click.option("--out", metavar="DIR", help="The run directory; default runs/NAME in the current folder.")
@click.option("--force", is_flag=True, help="Replace a run directory that is there.")
@_overrides
@click.option("--seed", metavar="N", help="Seed of all chance; short for --set seed=N.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as one JSON document on stdout.")
@click.option("--quiet", is_flag=True, help="Print errors only, and the JSON document if asked for.")
def run(
    scenario_file: str,
    out: str | None,
    force: bool,
    overrides: tuple[str, ...],
    seed: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Simulate a scenario, write its run directory, and print a summary."""
    from twin.io.scenario_files import read

    scenario = read(scenario_file, overrides if seed is None else (*overrides, f"seed={seed}"))
    folder = Path("runs", _file_name(scenario.name)) if out is None else Path(out)

    from twin import api  # after the scenario is known to be good: the simulator takes a while to load

    manifest = api.run(scenario, folder, force=force).manifest
    if not quiet:
        _warn([*manifest["warnings"], *(manifest["import_report"] or {}).get("warnings", ())])
        click.echo(f"run directory: {folder}", err=True)
    if as_json:
        _print_json(manifest)
    elif not quiet:
        _print_summary(manifest)


def _fault(fault: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(fault).items() if name != "reads"}


def _contents(scenario: Scenario) -> str:
    """What a scenario holds, in a few words."""
    count, groups = sum(group.count for group in scenario.jobs), len(scenario.jobs)
    parts = [f"jobs: {count} in groups: {groups}"] if groups else []
    if scenario.replay is not None:
        parts.append(f"launch log: {scenario.replay.file}")
    return ", ".join(parts)


def _file_name(name: str) -> str:
    """The name with nothing in it that a folder cannot have."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"


def _warn(warnings: Sequence[str], file: str = "") -> None:
    for warning in warnings:
        click.echo(f"{file}{': ' if file else ''}warning: {warning}", err=True)


def _print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def _print_summary(manifest: Mapping[str, Any]) -> None:
    from twin.report.run_summary import summary

    click.secho(manifest["name"], bold=True)
    for key in ("question", "answer"):
        if manifest[key]:
            click.echo(f"{key}: {manifest[key].strip()}")
    for title, lines in summary(manifest).items():
        click.secho(f"\n{title}", bold=True)
        width = max(len(line.label) for line in lines)
        for line in lines:
            click.echo(f"  {line.label:<{width}}  {line.value}")
