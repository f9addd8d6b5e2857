"""Arguments in, exit code out; the only place that prints."""

from twin.cli.command_line import cli, main
from twin.cli.exit_codes import BAD_INPUT, BROKEN_PIPE, CHECK_FAILED

__all__ = ["BAD_INPUT", "BROKEN_PIPE", "CHECK_FAILED", "cli", "main"]
