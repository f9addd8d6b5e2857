"""What commands say: results on stdout, all else on stderr; the only place that prints."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from twin.report.run_summary import Line


def tell(text: str) -> None:
    """Say it on stderr; where that takes nothing, the command goes on all the same."""
    try:
        click.echo(text, err=True)
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """If a stream takes nothing, what it still holds goes nowhere: Python's last flush would fail again."""
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def warn(warnings: Sequence[str], file: str = "") -> None:
    for warning in warnings:
        tell(f"{file}{': ' if file else ''}warning: {warning}")


def print_json(document: Any) -> None:
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def print_summary(manifest: Mapping[str, Any]) -> None:
    """The summary; the answer of a scenario that was changed is left out, since it answers the file as written."""
    from twin.report.run_summary import changes, summary

    changed = changes(manifest)
    print_head(manifest["name"], manifest["question"], None if changed else manifest["answer"])
    for change in changed:
        click.echo(f"changed: {change}")
    print_sections(summary(manifest))


def print_head(name: str, question: str | None, answer: str | None) -> None:
    click.secho(name, bold=True)
    for key, text in (("question", question), ("answer expected", answer)):
        if text:
            click.echo(f"{key}: {text.strip()}")


def print_sections(sections: Mapping[str, Sequence[Line]]) -> None:
    for title, lines in sections.items():
        click.secho(f"\n{title}", bold=True)
        print_lines(lines)


def print_lines(lines: Sequence[Line]) -> None:
    width = max(len(line.label) for line in lines)
    for line in lines:
        click.echo(f"  {line.label:<{width}}  {line.value}")


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[float, int, float], None] | None]:
    """What a run is to tell its progress; None if nobody wants to hear."""
    if quiet:
        yield None
        return
    from rich.console import Console

    from twin.report.run_progress import progress

    with progress(Console(stderr=True)) as watch:
        yield watch


@contextmanager
def progress_of_runs(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """What a study of many runs is to tell its progress; None if nobody wants to hear."""
    if quiet:
        yield None
        return
    from rich.console import Console

    from twin.report.run_progress import progress_of_runs as told

    with told(Console(stderr=True)) as watch:
        yield watch
