"""The command that writes pages: of a run, of several side by side, of a study, of a sweep."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twin.cli.printing import tell
from twin.errors import TwinError
from twin.signals import unwinding

if TYPE_CHECKING:
    from twin.io.study_directory import Study
    from twin.io.sweep_directory import Sweep

_SEVERAL = Path("report.html")


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...")
@click.option("-o", "--out", metavar="FILE", help="The page; default FOLDER.html beside it, of several report.html.")
@click.option("--meter", metavar="TIME", help="Draw what a power meter of this interval would have seen too, as 1 min.")
@click.option("--force", is_flag=True, help="Replace a file that is no racktwin report.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
def report(folders: tuple[str, ...], out: str | None, meter: str | None, force: bool, quiet: bool) -> None:
    """Write the page of a run, to look at in a browser.

    FOLDER is a run directory, or that of a comparison, a sensitivity study or a sweep; several run directories are put
    side by side. A page is one self-contained HTML file with charts, numbers and the queries behind them, and loads
    nothing from the network.
    """
    from twin.report import page_file

    if len(folders) == 1:
        file = page_file.beside(folders[0]) if out is None else Path(out)
        write_page_of(Path(folders[0]), file, force, quiet, meter)
        return
    if meter is not None:
        raise TwinError("--meter: is for the page of one run; give one run directory")
    file = _SEVERAL if out is None else Path(out)
    write_page(file, lambda: _several(folders, file), force, quiet)


def write_page_of(folder: Path, file: Path, force: bool, quiet: bool, meter: str | None = None) -> None:
    """Write the page of whatever the folder holds."""
    from twin import api
    from twin.io import study_directory, sweep_directory

    if meter is not None and (study_directory.is_study(folder) or sweep_directory.is_sweep(folder)):
        raise TwinError("--meter: is for the page of one run; give one run directory")
    if study_directory.is_study(folder):
        study = study_directory.open_study(folder)
        write_page(file, lambda: _study_page(study), force, quiet)
    elif sweep_directory.is_sweep(folder):
        sweep = sweep_directory.read_sweep(folder)
        write_page(file, lambda: _sweep_page(sweep), force, quiet)
    else:
        from twin.report.page import page

        recording = api.open_run(folder)
        meter_s = None if meter is None else duration_s(meter, "--meter")
        write_page(file, lambda: page(recording, meter_s), force, quiet)


def _study_page(study: Study) -> str:
    if study.manifest["kind"] == "comparison":
        from twin.report.comparison_page import comparison_page

        return comparison_page(study)
    from twin.report.sensitivity_page import sensitivity_page

    return sensitivity_page(study)


def _sweep_page(sweep: Sweep) -> str:
    from twin.report.sweep_page import sweep_page

    return sweep_page(sweep)


def _several(folders: Sequence[str], file: Path) -> str:
    """The page of several runs, whose queries open them from where the page lies."""
    from twin import api
    from twin.report.several_page import several_page

    names = {name: folder for folder, name in zip(folders, _names(folders), strict=True)}
    places = {name: os.path.relpath(folder, file.parent) for name, folder in names.items()}
    return several_page({name: api.open_run(folder) for name, folder in names.items()}, places)


def _names(folders: Sequence[str]) -> list[str]:
    """The shortest ends of the paths that tell them apart."""
    parts = [Path(os.path.realpath(folder)).parts for folder in folders]
    depth = 1
    while len({path[-depth:] for path in parts}) < len(parts) and depth < max(map(len, parts)):
        depth += 1
    names = ["/".join(path[-depth:]) for path in parts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise TwinError(f"{twice}: is given twice; give each run once")
    return names


def write_page(file: Path, made: Callable[[], str], force: bool, quiet: bool) -> None:
    """Write a page where one may be; what it takes to make it comes after that is known."""
    from twin.report import page_file

    page_file.check_free(file, force)
    with unwinding():
        page_file.write(file, made(), force)
    if not quiet:
        tell(f"report: {file}")


def duration_s(text: str, option: str) -> float:
    """A time that is more than 0, as an option says it [s]."""
    from twin.units import RefusedValue, bounded_quantity

    try:
        value: str | float = float(text) if text.strip().replace(".", "", 1).isdigit() else text
        return bounded_quantity(value, "time", above=0.0)
    except RefusedValue as refusal:
        raise TwinError(f"{option} {text}: {refusal.rule}; {refusal.remedy}") from None
