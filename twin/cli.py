"""Arguments in, exit code out; the only place that prints. What each code means stands in ``concepts.EXIT_CODES``."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from twin.errors import LaunchLogError, ScenarioError, TwinError
from twin.signals import Stopped, unwinding

if TYPE_CHECKING:
    from twin.recording import Recording
    from twin.report.run_summary import Line
    from twin.scenario import Scenario

BAD_INPUT = 2
BROKEN_PIPE = 141  # as a shell counts a command that a closed pipe ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. Bad input ends with a message on stderr, never with a traceback."""
    _hold_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 must not end a run
    try:
        code = cli.main(args=None if arguments is None else list(arguments), prog_name="twin", standalone_mode=False)
    except click.ClickException as error:
        usage = StringIO()
        error.show(usage)
        _tell(usage.getvalue().rstrip())
        code = BAD_INPUT
    except Stopped as stopped:
        _tell(stopped.word)
        code = stopped.code
    return code if isinstance(code, int) else 0


def _hold_standard_streams() -> None:
    """Open to nowhere what was closed by whoever started us, or a file of the run would get the number of a stream."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 it is open until the command ends


class _Commands(click.Group):
    """A group of commands whose errors become messages and exit codes."""

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        with _endings():  # --help and --version print here
            return super().make_context(*arguments, **more)

    def invoke(self, context: click.Context) -> Any:
        with _endings():
            result = super().invoke(context)
            sys.stdout.flush()
            return result


@contextmanager
def _endings() -> Iterator[None]:
    """Turns what a command raised into a message and an exit code."""
    try:
        yield
    except TwinError as error:
        _tell(str(error))
    except BrokenPipeError:
        _give_up(sys.stdout)
        raise click.exceptions.Exit(BROKEN_PIPE) from None
    except OSError as error:
        _give_up(sys.stdout)
        # All that a command writes to a file is written where the error gets its name.
        place = error.filename or "standard output"
        _tell(f"{place}: {error.strerror or error}; check the file, its permissions and the space left")
    else:
        return
    raise click.exceptions.Exit(BAD_INPUT) from None


def _tell(text: str) -> None:
    """Say it on stderr; where that takes nothing, the command goes on all the same."""
    try:
        click.echo(text, err=True)
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """If a stream takes nothing, what it still holds goes nowhere: Python's last flush would fail again."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


_overrides = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a value of the scenario, as in power.cap=12MW or jobs.llm.nodes=64; null removes it. Repeatable.",
)


_variant = click.option("--variant", metavar="NAME", help="Take a variant of the scenario, one that it names.")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="racktwin", prog_name="twin", message="%(prog)s %(version)s")
def cli() -> None:
    """A digital twin of a datacenter that runs large training jobs."""


@cli.command()
@click.argument("name", required=False)
@click.option("--list", "lists", is_flag=True, help="List the starters, each with the question it asks.")
def init(name: str | None, lists: bool) -> None:
    """Write a starter scenario into the current folder.

    NAME is one that --list shows; by default mid-fleet.
    """
    from twin.io import bundled

    if lists:
        starters = bundled.starters()
        width = max(len(starter.name) for starter in starters)
        for starter in starters:
            click.echo(f"{starter.name:<{width}}  {starter.question}")
        return
    with unwinding():
        scenario, *logs = bundled.write(name or bundled.DEFAULT, Path())
    for file in (scenario, *logs):
        click.echo(f"wrote {file}")
    click.echo(f"next: twin run {scenario} --report")
    if name is None:
        click.echo("other starters: twin init --list")


@cli.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_overrides
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else, on stdout.")
@click.pass_context
def validate(context: click.Context, files: tuple[str, ...], overrides: tuple[str, ...], as_json: bool) -> None:
    """Check scenario files and the launch logs they replay.

    It draws the tree of feeders, with what hangs below each. It ends with exit code 2 if one of them cannot be run.
    """
    from twin.io.scenario_files import read
    from twin.report.feeder_tree import feeder_lines, feeder_rows, oversubscribed

    verdicts: list[dict[str, Any]] = []
    for file in files:
        try:
            scenario = read(file, overrides)
            imported = _imported(scenario)
        except (ScenarioError, LaunchLogError) as error:
            _tell(str(error) if isinstance(error, ScenarioError) else f"{file}: {error}")
            verdicts.append({"file": file, "valid": False, "faults": [_fault(fault) for fault in error.faults]})
            continue
        rows = feeder_rows(scenario)
        warnings = [*scenario.warnings(), *oversubscribed(rows), *imported.get("warnings", ())]
        feeders = [row._asdict() for row in rows]
        verdicts.append({"file": file, "valid": True, "faults": [], "warnings": warnings, "feeders": feeders})
        _warn(warnings, file)
        if imported:
            verdicts[-1]["import_report"] = imported
        if not as_json:
            click.echo(f"{file}: valid: {_contents(scenario)}")
            _print_launch_log(imported)
            if rows:
                _print_lines(feeder_lines(rows))
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
@click.option("--out", metavar="DIR", help="The run directory; default runs/NAME or runs/NAME-VARIANT in this folder.")
@click.option("--force", is_flag=True, help="Replace a run directory that is there.")
@_variant
@_overrides
@click.option("--seed", metavar="N", help="Seed of all chance; short for --set seed=N.")
@click.option("--max-events", type=click.IntRange(min=1), metavar="N", help="Give up after N events; default never.")
@click.option("--report", "with_report", is_flag=True, help="Write the page of the run too, beside its directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as one JSON document on stdout.")
@click.option("--quiet", is_flag=True, help="Print errors only, and the JSON document if asked for.")
def run(
    scenario_file: str,
    out: str | None,
    force: bool,
    variant: str | None,
    overrides: tuple[str, ...],
    seed: str | None,
    max_events: int | None,
    with_report: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Simulate a scenario, write its run directory, print a summary."""
    from twin.io.scenario_files import read

    scenario = read(scenario_file, overrides if seed is None else (*overrides, f"seed={seed}"), variant)
    name = scenario.name if variant is None else f"{scenario.name}-{variant}"
    folder = Path("runs", _file_name(name)) if out is None else Path(out)

    from twin import api  # after the scenario is known to be good: the simulator takes a while to load

    if with_report:
        from twin.report import page_file

        page_file.check_free(page_file.beside(folder), force)
    with unwinding(), _progress(quiet) as watch:
        recording = api.run(scenario, folder, force=force, max_events=max_events, watch=watch)
    manifest = recording.manifest
    if not quiet:
        _warn(manifest["warnings"])
        _tell(f"run directory: {folder}")
    if with_report:
        _write_page(recording, page_file.beside(folder), force, quiet)
    if as_json:
        _print_json(manifest)
    elif not quiet:
        _print_summary(manifest)
        if sys.stdout.isatty():
            to_see_it = (
                f"open {page_file.beside(folder)} in a browser"
                if with_report
                else f"twin report {shlex.quote(str(folder))} -o page.html"
            )
            click.echo(f"\nto see it: {to_see_it}")


@cli.command()
@click.argument("run_directory", metavar="RUN")
@click.option("-o", "--out", metavar="FILE", help="The page; default RUN.html, beside the run directory.")
@click.option("--force", is_flag=True, help="Replace a file that is no racktwin report.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
def report(run_directory: str, out: str | None, force: bool, quiet: bool) -> None:
    """Write the page of a run, to look at in a browser.

    It is one self-contained HTML file with charts, numbers and assumptions, and loads nothing from the network.
    """
    from twin import api
    from twin.report import page_file

    recording = api.open_run(run_directory)
    _write_page(recording, page_file.beside(run_directory) if out is None else Path(out), force, quiet)


@cli.command()
@click.argument("scenario_file", metavar="SCENARIO")
@_variant
@_overrides
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else, on stdout.")
def estimate(scenario_file: str, variant: str | None, overrides: tuple[str, ...], as_json: bool) -> None:
    """Give storm odds, checkpoint times and power, without simulating.

    That is the product form: how often jobs write at once, how long checkpoints take and what the fleet draws, in
    milliseconds, and how far it holds for this scenario.
    """
    from twin import api
    from twin.report.estimate_summary import estimate_summary

    scenario = api.load(scenario_file, overrides, variant=variant)
    found = api.estimate(scenario).as_dict()
    _warn(scenario.warnings())
    if as_json:
        _print_json(found)
    else:
        _print_head(scenario.name, scenario.question, None)
        _print_sections(estimate_summary(found))


@cli.command()
@click.argument("topic", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else, on stdout.")
def explain(topic: tuple[str, ...], as_json: bool) -> None:
    """Say what a name means: unit, default, definition, source.

    TOPIC is a scenario key (storage.bandwidth, or the end of one, as checkpoint.size), a metric, a column, a policy,
    an error, an exit code, or a label or word of the summary and the page (offered load, ETTR, phase gap). The
    beginning of one will do. Without TOPIC, all names are listed; a title of that list gives one part, as in twin
    explain metrics.
    """
    from twin.report import explanation_text, explanations

    found = explanations.explain(" ".join(topic)) if topic else explanations.explanations()
    if as_json:
        _print_json([asdict(entry) for entry in found])
        return
    shown = explanation_text.paragraphs(found) if topic else explanation_text.contents(found)
    for title, lines in shown.items():
        click.secho(title, bold=True)
        for line in lines:
            click.echo(line)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float, int, float], None] | None]:
    """What a run is to tell its progress; None if nobody wants to hear."""
    if quiet:
        yield None
        return
    from rich.console import Console

    from twin.report.run_progress import progress

    with progress(Console(stderr=True)) as watch:
        yield watch


def _write_page(recording: Recording, file: Path, force: bool, quiet: bool) -> None:
    from twin.report import page_file
    from twin.report.page import page

    page_file.check_free(file, force)
    with unwinding():
        page_file.write(file, page(recording), force)
    if not quiet:
        _tell(f"report: {file}")


def _imported(scenario: Scenario) -> dict[str, Any]:
    """The report of reading the launch log of a scenario; empty without one."""
    if scenario.replay is None:
        return {}
    from twin import api  # with tables and numbers, which other scenarios are checked without

    return api.import_report(scenario) or {}


def _print_launch_log(imported: Mapping[str, Any]) -> None:
    if imported:
        from twin.report.run_summary import launch_log_lines

        _print_lines(list(launch_log_lines(imported)))


def _fault(fault: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(fault).items() if name != "reads"}


def _contents(scenario: Scenario) -> str:
    """What a scenario holds, in a few words."""
    count, groups = sum(group.count for group in scenario.jobs), len(scenario.jobs)
    parts = [f"jobs: {count} in groups: {groups}"] if groups else []
    if scenario.replay is not None:
        parts.append(f"launch log: {scenario.replay.file}")
    if scenario.variants:
        parts.append(f"variants: {', '.join(scenario.variants)}")
    return ", ".join(parts)


def _file_name(name: str) -> str:
    """The name with nothing in it that a folder cannot have."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"


def _warn(warnings: Sequence[str], file: str = "") -> None:
    for warning in warnings:
        _tell(f"{file}{': ' if file else ''}warning: {warning}")


def _print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def _print_summary(manifest: Mapping[str, Any]) -> None:
    """The summary; the answer of a scenario that was changed is left out, since it answers the file as written."""
    from twin.report.run_summary import changes, summary

    changed = changes(manifest)
    _print_head(manifest["name"], manifest["question"], None if changed else manifest["answer"])
    for change in changed:
        click.echo(f"changed: {change}")
    _print_sections(summary(manifest))


def _print_head(name: str, question: str | None, answer: str | None) -> None:
    click.secho(name, bold=True)
    for key, text in (("question", question), ("answer expected", answer)):
        if text:
            click.echo(f"{key}: {text.strip()}")


def _print_sections(sections: Mapping[str, Sequence[Line]]) -> None:
    for title, lines in sections.items():
        click.secho(f"\n{title}", bold=True)
        _print_lines(lines)


def _print_lines(lines: Sequence[Line]) -> None:
    width = max(len(line.label) for line in lines)
    for line in lines:
        click.echo(f"  {line.label:<{width}}  {line.value}")
