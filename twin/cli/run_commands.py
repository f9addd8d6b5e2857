"""The command that makes runs."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import click

from twin.cli.options import overrides_option, quiet_option, seed_option, variant_option, with_seed
from twin.cli.printing import print_json, print_summary, progress, tell, warn
from twin.cli.report_command import write_page
from twin.signals import unwinding


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
    """Simulate a scenario into a run directory, print a summary."""
    from twin.io.scenario_files import read

    scenario = read(scenario_file, with_seed(overrides, seed), variant)
    name = scenario.name if variant is None else f"{scenario.name}-{variant}"
    folder = Path("runs", file_name(name)) if out is None else Path(out)

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
        from twin.report.page import page

        write_page(page_file.beside(folder), lambda: page(recording), force, quiet)
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


def file_name(name: str) -> str:
    """The name with nothing in it that a folder cannot have."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
