"""Options that several commands have."""

from __future__ import annotations

import click

overrides_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a value of the scenario, as in power.cap=12MW or jobs.llm.nodes=64; null removes it. Repeatable.",
)
variant_option = click.option("--variant", metavar="NAME", help="Take a variant of the scenario, one that it names.")
seed_option = click.option("--seed", metavar="N", help="Seed of all chance; short for --set seed=N.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else, on stdout."
)
quiet_option = click.option("--quiet", is_flag=True, help="Print errors only, and the JSON document if asked for.")


def with_seed(overrides: tuple[str, ...], seed: str | None) -> tuple[str, ...]:
    """The overrides, with the seed as the last of them."""
    return overrides if seed is None else (*overrides, f"seed={seed}")
