"""Commands that take many runs to answer: compare, sensitivity."""

from __future__ import annotations

from pathlib import Path

import click

from twin.cli.options import json_option, overrides_option, quiet_option, seed_option, with_seed
from twin.cli.printing import print_head, print_json, progress_of_runs, tell, warn
from twin.cli.report_command import write_page_of
from twin.cli.run_commands import file_name
from twin.signals import unwinding

_replicas = click.option(
    "--replicas", type=click.IntRange(min=1), metavar="R", help="Independent repetitions; default 20."
)
_processes = click.option(
    "--workers", type=click.IntRange(min=0), metavar="N", help="Worker processes; default one a core, 0 for none."
)


@click.command()
@click.argument("scenario_file", metavar="SCENARIO")
@click.option("--vary", multiple=True, metavar="KEY=[..]", help="Values of a key to compare. Repeatable: combined.")
@_replicas
@click.option("--baseline", metavar="NAME", help="The variant that the others are compared with.")
@click.option("--only", is_flag=True, help="Add no realistic variant of an idealised baseline.")
@click.option("--match", "risk", metavar="METRIC=VALUE", help="Tune the caps of each variant to this risk first.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="A metric to print. Repeatable.")
@click.option("--out", metavar="DIR", help="The folder of the study; default runs/NAME-compare in this folder.")
@click.option("--force", is_flag=True, help="Replace a study that is there.")
@overrides_option
@seed_option
@_processes
@click.option("--no-traces", is_flag=True, help="Keep no tables of the runs, which pages draw.")
@click.option("--report", "with_report", is_flag=True, help="Write the page of the comparison too, beside its folder.")
@json_option
@quiet_option
def compare(
    scenario_file: str,
    vary: tuple[str, ...],
    replicas: int | None,
    baseline: str | None,
    only: bool,
    risk: str | None,
    metrics: tuple[str, ...],
    out: str | None,
    force: bool,
    overrides: tuple[str, ...],
    seed: str | None,
    workers: int | None,
    no_traces: bool,
    with_report: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare the variants of a scenario, on the same luck.

    Replica by replica every variant meets the same jitter and launches, so that a difference is the variant's doing; it
    is told with its interval. The variants are those that the scenario names, or the values of --vary, as in --vary
    'power.controller=[anonymous, sampled]'.
    """
    from twin.io.scenario_files import read

    scenario = read(scenario_file, with_seed(overrides, seed))
    folder = Path("runs", f"{file_name(scenario.name)}-compare") if out is None else Path(out)

    from twin import planning  # after the scenario is known to be good: the simulator takes a while to load
    from twin.report import page_file
    from twin.report.comparison_summary import comparison_lines, method_line, variant_lines

    if with_report:
        page_file.check_free(page_file.beside(folder), force)
    with unwinding(), progress_of_runs(quiet) as watch:
        study = planning.compare(
            scenario_file,
            folder,
            vary=vary,
            overrides=with_seed(overrides, seed),
            replicas=planning.DEFAULT_REPLICAS if replicas is None else replicas,
            baseline=baseline,
            only=only,
            match=None if risk is None else planning.risk(risk),
            metrics=metrics,
            processes=workers,
            traces=not no_traces,
            force=force,
            watch=watch,
            tuning=None if quiet else lambda name: tell(f"tuning the caps of {name}"),
        )
    manifest = study.manifest
    if not quiet:
        warn(list(dict.fromkeys(warning for variant in manifest["variants"] for warning in variant["warnings"])))
        tell(f"study: {folder}")
    if with_report:
        write_page_of(folder, page_file.beside(folder), force, quiet)
    if as_json:
        print_json({**manifest, "comparison": study.table.to_pylist()})
    elif not quiet:
        print_head(manifest["name"], manifest["question"], None)
        for name, words in variant_lines(manifest):
            click.echo(f"  {name}: {words}")
        for title, lines in comparison_lines(manifest, study.table):
            click.secho(f"\n{title}", bold=True)
            for line in lines:
                click.echo(f"  {line}")
        click.echo(f"\n{method_line(manifest)}")


@click.command()
@click.argument("scenario_file", metavar="SCENARIO")
@click.option("--metric", metavar="NAME", help="The metric that swings; default goodput, or the work done if jobs go.")
@_replicas
@click.option("--out", metavar="DIR", help="The folder of the study; default runs/NAME-sensitivity in this folder.")
@click.option("--force", is_flag=True, help="Replace a study that is there.")
@overrides_option
@seed_option
@_processes
@click.option("--report", "with_report", is_flag=True, help="Write the page of the study too, beside its folder.")
@json_option
@quiet_option
def sensitivity(
    scenario_file: str,
    metric: str | None,
    replicas: int | None,
    out: str | None,
    force: bool,
    overrides: tuple[str, ...],
    seed: str | None,
    workers: int | None,
    with_report: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say which guess must be measured first.

    Each value that came from a guessed default moves by 25 % down and up, on the same luck, and the swing of the metric
    is told with its interval.
    """
    from twin.io.scenario_files import read

    scenario = read(scenario_file, with_seed(overrides, seed))
    folder = Path("runs", f"{file_name(scenario.name)}-sensitivity") if out is None else Path(out)

    from twin import planning
    from twin.analysis.metrics import METRICS
    from twin.report import page_file
    from twin.report.comparison_summary import method_line
    from twin.report.sensitivity_summary import first_to_measure, headline, sensitivity_lines

    if with_report:
        page_file.check_free(page_file.beside(folder), force)
    with unwinding(), progress_of_runs(quiet) as watch:
        study = planning.sensitivity(
            scenario_file,
            folder,
            metric=metric,
            overrides=with_seed(overrides, seed),
            replicas=planning.DEFAULT_REPLICAS if replicas is None else replicas,
            processes=workers,
            force=force,
            watch=watch,
        )
    manifest = study.manifest
    if not quiet:
        tell(f"study: {folder}")
    if with_report:
        write_page_of(folder, page_file.beside(folder), force, quiet)
    if as_json:
        print_json({**manifest, "sensitivity": study.table.to_pylist()})
    elif not quiet:
        print_head(manifest["name"], manifest["question"], None)
        click.secho(f"\n{METRICS[manifest['metric']].label}: {headline(manifest)}", bold=True)
        for line in sensitivity_lines(manifest, study.table):
            click.echo(f"  {line}")
        click.echo(f"\n{first_to_measure(manifest, study.table)}\n{method_line(manifest)}")
