"""The command that runs a grid of scenarios, or a sample of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from twin.cli.exit_codes import CHECK_FAILED
from twin.cli.options import json_option, overrides_option, quiet_option, seed_option, variant_option, with_seed
from twin.cli.printing import print_head, print_json, progress_of_runs, tell, warn
from twin.cli.report_command import write_page_of
from twin.cli.run_commands import file_name
from twin.errors import TwinError
from twin.signals import Stopped, unwinding

if TYPE_CHECKING:
    from twin.planning import SweepOutcome
    from twin.studies.frontier import Constraint, Goal, Standing

_MOST_FAILURES = 10


@click.command()
@click.argument("scenario_file", metavar="SCENARIO")
@click.option("--grid", multiple=True, metavar="KEY=VALUES", help="FROM..TO:N or A,B,..; repeatable: combined.")
@click.option("--sample", metavar="sobol:N", help="N points over the ranges of --grid instead; or latin:N.")
@click.option(
    "--replicas", type=click.IntRange(min=1), default=1, metavar="R", help="Repetitions of a point; default 1."
)
@click.option("--out", metavar="DIR", help="The folder of the sweep; default sweeps/NAME in this folder.")
@variant_option
@overrides_option
@seed_option
@click.option("--workers", type=click.IntRange(min=0), metavar="N", help="Worker processes; default one a core.")
@click.option("--scheduler", metavar="ADDRESS", help="A running Dask cluster, as tcp://10.0.0.1:8786.")
@click.option("--traces", is_flag=True, help="Keep the tables of every run.")
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@click.option(
    "--best", metavar="METRIC", help="Put the points in order, and show the frontier; min:METRIC, max:METRIC."
)
@click.option(
    "--subject-to", "constraints", multiple=True, metavar="'M < V'", help="What a point must keep. Repeatable."
)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="A metric to print. Repeatable.")
@click.option("--report", "with_report", is_flag=True, help="Write the page of the sweep too, beside its folder.")
@json_option
@quiet_option
@click.pass_context
def sweep(
    context: click.Context,
    scenario_file: str,
    grid: tuple[str, ...],
    sample: str | None,
    replicas: int,
    out: str | None,
    variant: str | None,
    overrides: tuple[str, ...],
    seed: str | None,
    workers: int | None,
    scheduler: str | None,
    traces: bool,
    retry_failed: bool,
    best: str | None,
    constraints: tuple[str, ...],
    metrics: tuple[str, ...],
    with_report: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run a grid of scenarios, or a sample of one.

    A result is kept as soon as it is there, under a name made of all that has a say in it: the same command goes on
    where it was stopped, and a value more runs only what is new. It ends with exit code 1 if a run failed.
    """
    from twin.analysis.metrics import metric_named
    from twin.io.scenario_files import read
    from twin.io.sweep_axes import sample_warning
    from twin.studies import frontier

    if constraints and best is None:
        raise TwinError("--subject-to: says what the best must keep; give --best too, as in --best goodput")
    goal = None if best is None else frontier.goal(best)
    kept = [frontier.constraint(text) for text in constraints]
    asked = [metric_named(name).name for name in metrics]
    scenario = read(scenario_file, with_seed(overrides, seed), variant)
    name = scenario.name if variant is None else f"{scenario.name}-{variant}"
    folder = Path("sweeps", file_name(name)) if out is None else Path(out)

    from twin import planning  # after the scenario is known to be good: the simulator takes a while to load
    from twin.report import page_file

    if with_report:
        page_file.check_free(page_file.beside(folder), False)
    try:
        with unwinding(), progress_of_runs(quiet) as watch:
            outcome = planning.sweep(
                scenario_file,
                folder,
                grid=grid,
                sample=sample,
                overrides=with_seed(overrides, seed),
                variant=variant,
                replicas=replicas,
                scheduler=scheduler,
                processes=workers,
                traces=traces,
                retry_failed=retry_failed,
                watch=watch,
            )
    except Stopped:
        tell(f"what is done is kept in {folder}; run the same command again to go on")
        raise
    if not quiet:
        uneven = None if sample is None else sample_warning(sample)
        warn([*scenario.warnings(), *([uneven] if uneven else [])])
        _tell_outcome(outcome, folder)
    if with_report:
        write_page_of(folder, page_file.beside(folder), False, quiet)
    if as_json:
        print_json(_document(outcome, goal, kept))
    elif not quiet:
        print_head(scenario.name, scenario.question, None)
        _print_points(outcome, goal, kept, asked)
    if outcome.failures:
        context.exit(CHECK_FAILED)


def _tell_outcome(outcome: SweepOutcome, folder: Path) -> None:
    from twin.report.sweep_summary import failure_lines

    there = outcome.sweep.table.num_rows
    tell(f"sweep: {folder}: {there:,} results, {outcome.ran:,} run now")
    for line in failure_lines(outcome.sweep.manifest["axes"], outcome.failures[:_MOST_FAILURES]):
        tell(line)
    if (more := len(outcome.failures) - _MOST_FAILURES) > 0:
        tell(f"and {more:,} more failures, in {folder / 'failures'}")
    if any(replica is not None for _, replica, _ in outcome.failures):
        tell("run what failed again with --retry-failed")


def _print_points(outcome: SweepOutcome, goal: Goal | None, constraints: list[Constraint], asked: list[str]) -> None:
    """The points in the order of the grid; with a goal the feasible first, the best of them on top."""
    from twin.report.sweep_summary import HEADLINE, point_lines
    from twin.studies.frontier import mean_intervals, standings

    axes, table = outcome.sweep.manifest["axes"], outcome.sweep.table
    keys = [axis["key"] for axis in axes]
    if goal is None:
        names = asked or [name for name in HEADLINE if table[name].null_count < len(table)]
        rows = [(point, found, ()) for point, found in mean_intervals(table, keys, names).items()]
        for line in point_lines(axes, names, rows):
            click.echo(f"  {line}")
        return
    judged = standings(table, keys, goal, constraints)
    names = list(judged[0].metrics) if judged else []
    on_it = [each for each in judged if each.is_on_frontier]
    feasible = [each for each in judged if each.is_feasible]
    aim = f"{'highest' if goal.is_highest else 'lowest'} {goal.metric}"
    click.secho(f"\nfrontier, {aim}", bold=True)
    shown = [(each.values, each.metrics, _words(each, feasible)) for each in (on_it if feasible else judged)]
    for line in point_lines(axes, names, shown):
        click.echo(f"  {line}")
    if not feasible:
        click.echo(f"no point keeps {' and '.join(f'{c.metric} {c.sign} {c.value:g}' for c in constraints)}")


def _words(each: Standing, feasible: list[Standing]) -> list[str]:
    if feasible and each is feasible[0]:
        return ["best"]
    return [] if each.is_feasible else ["keeps not all"]


def _document(outcome: SweepOutcome, goal: Goal | None, constraints: list[Constraint]) -> dict[str, Any]:
    """The sweep as one JSON document."""
    from twin.studies.frontier import standings
    from twin.studies.sweep import plain_rows

    manifest = outcome.sweep.manifest
    keys = [axis["key"] for axis in manifest["axes"]]
    document = {key: value for key, value in manifest.items() if key != "scenario"} | {
        "ran": outcome.ran,
        "failures": [
            {"values": dict(values), "replica": replica, "error": error} for values, replica, error in outcome.failures
        ],
        "results": plain_rows(outcome.sweep.table),
    }
    if goal is not None:
        document["best"] = [
            {
                "values": dict(zip(keys, each.values, strict=True)),
                "means": {name: found.mean for name, found in each.metrics.items()},
                "feasible": each.is_feasible,
                "frontier": each.is_on_frontier,
            }
            for each in standings(outcome.sweep.table, keys, goal, constraints)
        ]
    return document
