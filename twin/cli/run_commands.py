"""Commands that make runs and their pages: run, report."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twin.cli.options import overrides_option, quiet_option, seed_option, variant_option, with_seed
from twin.cli.printing import print_json, print_summary, progress, tell, warn
from twin.signals import unwinding

if TYPE_CHECKING:
    from twin.recording import Recording


@click.command()
@click.argument("scenario_file", metavar="SCENARIO")
@click.option("--out", metavar="DIR", help="The run directory; default runs/NAME or runs/NAME-VARIANT in this folder.")
@click.option("--force", is_flag=True, help="Replace a run directory that is there.")
@variant_option
@overrides_option
@seed_option
@click.option("--max-events", type=click.IntRange(min=1), metavar="N", help="Give up after N events; default never.")
@click.option("--report", "with_report", is_flag=True, help="Write the page of the run too, beside its directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as one JSON document on stdout.")
@quiet_option
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

    scenario = read(scenario_file, with_seed(overrides, seed), variant)
    name = scenario.name if variant is None else f"{scenario.name}-{variant}"
    folder = Path("runs", _file_name(name)) if out is None else Path(out)

    from twin import api  # after the scenario is known to be good: the simulator takes a while to load

    if with_report:
        from twin.report import page_file

        page_file.check_free(page_file.beside(folder), force)
    with unwinding(), progress(quiet) as watch:
        recording = api.run(scenario, folder, force=force, max_events=max_events, watch=watch)
    manifest = recording.manifest
    if not quiet:
        warn(manifest["warnings"])
        tell(f"run directory: {folder}")
    if with_report:
        _write_page(recording, page_file.beside(folder), force, quiet)
    if as_json:
        print_json(manifest)
    elif not quiet:
        print_summary(manifest)
        if sys.stdout.isatty():
            to_see_it = (
                f"open {page_file.beside(folder)} in a browser"
                if with_report
                else f"twin report {shlex.quote(str(folder))} -o page.html"
            )
            click.echo(f"\nto see it: {to_see_it}")


@click.command()
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


def _write_page(recording: Recording, file: Path, force: bool, quiet: bool) -> None:
    from twin.report import page_file
    from twin.report.page import page

    page_file.check_free(file, force)
    with unwinding():
        page_file.write(file, page(recording), force)
    if not quiet:
        tell(f"report: {file}")


def _file_name(name: str) -> str:
    """The name with nothing in it that a folder cannot have."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
