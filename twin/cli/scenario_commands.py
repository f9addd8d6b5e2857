"""Commands that read scenarios and simulate nothing: init, validate, schema, estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from twin.cli.exit_codes import BAD_INPUT
from twin.cli.options import json_option, overrides_option, variant_option
from twin.cli.printing import print_head, print_json, print_lines, print_sections, tell, warn
from twin.errors import LaunchLogError, ScenarioError
from twin.signals import unwinding

if TYPE_CHECKING:
    from twin.scenario import Scenario


@click.command()
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


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@overrides_option
@json_option
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
            tell(str(error) if isinstance(error, ScenarioError) else f"{file}: {error}")
            verdicts.append({"file": file, "valid": False, "faults": [_fault(fault) for fault in error.faults]})
            continue
        rows = feeder_rows(scenario)
        warnings = [*scenario.warnings(), *oversubscribed(rows), *imported.get("warnings", ())]
        feeders = [row._asdict() for row in rows]
        verdicts.append({"file": file, "valid": True, "faults": [], "warnings": warnings, "feeders": feeders})
        warn(warnings, file)
        if imported:
            verdicts[-1]["import_report"] = imported
        if not as_json:
            click.echo(f"{file}: valid: {_contents(scenario)}")
            _print_launch_log(imported)
            if rows:
                print_lines(feeder_lines(rows))
    if as_json:
        print_json(verdicts)
    if not all(verdict["valid"] for verdict in verdicts):
        context.exit(BAD_INPUT)


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from twin.scenario import Scenario

    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    print_json(dialect | Scenario.model_json_schema(by_alias=True))


@click.command()
@click.argument("scenario_file", metavar="SCENARIO")
@variant_option
@overrides_option
@json_option
def estimate(scenario_file: str, variant: str | None, overrides: tuple[str, ...], as_json: bool) -> None:
    """Give storm odds, checkpoint times and power at once.

    That is the product form, without simulating: how often jobs write at once, how long checkpoints take and what the
    fleet draws, in milliseconds, and how far it holds for this scenario.
    """
    from twin import api
    from twin.report.estimate_summary import estimate_summary

    scenario = api.load(scenario_file, overrides, variant=variant)
    found = api.estimate(scenario).as_dict()
    warn(scenario.warnings())
    if as_json:
        print_json(found)
    else:
        print_head(scenario.name, scenario.question, None)
        print_sections(estimate_summary(found))


def _imported(scenario: Scenario) -> dict[str, Any]:
    """The report of reading the launch log of a scenario; empty without one."""
    if scenario.replay is None:
        return {}
    from twin import api  # with tables and numbers, which other scenarios are checked without

    return api.import_report(scenario) or {}


def _print_launch_log(imported: Mapping[str, Any]) -> None:
    if imported:
        from twin.report.run_summary import launch_log_lines

        print_lines(list(launch_log_lines(imported)))


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
