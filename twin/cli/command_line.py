"""Arguments in, exit code out. What each code means stands in ``concepts.EXIT_CODES``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import click

from twin.cli import (
    export_command,
    names,
    report_command,
    run_commands,
    scenario_commands,
    study_commands,
    sweep_command,
)
from twin.cli.exit_codes import BAD_INPUT, BROKEN_PIPE
from twin.cli.printing import give_up, tell
from twin.errors import TwinError
from twin.signals import Stopped


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. Bad input ends with a message on stderr, never with a traceback."""
    _hold_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without UTF-8 must not end a run
    try:
        code = cli.main(args=None if arguments is None else list(arguments), prog_name="twin", standalone_mode=False)
    except click.ClickException as error:
        usage = StringIO()
        error.show(usage)
        tell(usage.getvalue().rstrip())
        code = BAD_INPUT
    except Stopped as stopped:
        tell(stopped.word)
        code = stopped.code
    return code if isinstance(code, int) else 0


def _hold_standard_streams() -> None:
    """Open to nowhere what was closed by whoever started us, or a file of the run would get the number of a stream."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 it is open until the command ends


class _Commands(click.Group):
    """A group of commands whose errors become messages and exit codes."""

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        with _endings():  # --help and --version print here
            return super().make_context(*arguments, **more)

    def invoke(self, context: click.Context) -> Any:
        with _endings():
            result = super().invoke(context)
            sys.stdout.flush()
            return result


@contextmanager
def _endings() -> Iterator[None]:
    """Turns what a command raised into a message and an exit code."""
    try:
        yield
    except TwinError as error:
        tell(str(error))
    except BrokenPipeError:
        give_up(sys.stdout)
        raise click.exceptions.Exit(BROKEN_PIPE) from None
    except OSError as error:
        give_up(sys.stdout)
        # All that a command writes to a file is written where the error gets its name.
        place = error.filename or "standard output"
        tell(f"{place}: {error.strerror or error}; check the file, its permissions and the space left")
    else:
        return
    raise click.exceptions.Exit(BAD_INPUT) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="racktwin", prog_name="twin", message="%(prog)s %(version)s")
def cli() -> None:
    """A digital twin of a datacenter that runs large training jobs."""


for _command in (
    scenario_commands.init,
    scenario_commands.validate,
    run_commands.run,
    study_commands.compare,
    sweep_command.sweep,
    study_commands.sensitivity,
    report_command.report,
    export_command.export,
    scenario_commands.estimate,
    names.explain,
    scenario_commands.schema,
):
    cli.add_command(_command)
