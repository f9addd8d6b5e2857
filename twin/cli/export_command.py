"""The command that writes a run for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from twin.cli.options import quiet_option
from twin.cli.printing import tell
from twin.cli.report_command import duration_s
from twin.errors import TwinError
from twin.signals import unwinding


@click.command()
@click.argument("run_directory", metavar="RUN")
@click.option("--perfetto", "timeline", metavar="FILE", help="Write a timeline to open in ui.perfetto.dev.")
@click.option("--meter", metavar="TIME", help="Write what power meters with this interval log, as in 1s.")
@click.option("--out", metavar="STEM", help="Files of the meter: STEM.parquet, STEM.csv; default RUN-meter-TIME.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@quiet_option
def export(
    run_directory: str, timeline: str | None, meter: str | None, out: str | None, force: bool, quiet: bool
) -> None:
    """Write the timeline of a run, or the log of its meters.

    The timeline has the jobs as tracks, their phases as slices, and counters for writers, power and speed. The log has
    the mean draw of each interval, and integrates to the exact energy.
    """
    from twin import api

    if timeline is None and meter is None:
        raise TwinError("twin export: nothing to write; give --perfetto FILE, --meter TIME, or both")
    if out is not None and meter is None:
        raise TwinError("--out: names the files of a meter; give --meter TIME too")
    period_s = None if meter is None else duration_s(meter, "--meter")
    recording = api.open_run(run_directory)
    with unwinding():
        if timeline is not None:
            from twin.io.timeline_export import export_timeline

            slices = export_timeline(recording, Path(timeline), force=force)
            if not quiet:
                told = ", ".join(f"{name} {number:,}" for name, number in sorted(slices.items()))
                tell(f"timeline: {timeline}: slices: {told or 'none'}; open it in ui.perfetto.dev")
        if meter is not None and period_s is not None:
            from twin.io.meter_export import export_meter

            stem = _beside(Path(run_directory), meter) if out is None else Path(out)
            files, readings = export_meter(recording, period_s, stem, force=force)
            if not quiet:
                tell(f"meter: {files[0]}, {files[1]}: {readings:,} readings")


def _beside(run_directory: Path, meter: str) -> Path:
    """``runs/x-meter-1s`` for ``runs/x``."""
    run = run_directory.resolve()
    return run.with_name(f"{run.name}-meter-{''.join(meter.split())}")
