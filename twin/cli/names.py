"""The command that says what a name means."""

from __future__ import annotations

from dataclasses import asdict

import click

from twin.cli.options import json_option
from twin.cli.printing import print_json


@click.command()
@click.argument("topic", nargs=-1)
@json_option
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
        print_json([asdict(entry) for entry in found])
        return
    shown = explanation_text.paragraphs(found) if topic else explanation_text.contents(found)
    for title, lines in shown.items():
        click.secho(title, bold=True)
        for line in lines:
            click.echo(line)
