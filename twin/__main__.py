"""``python -m twin`` and the command ``twin``."""

from __future__ import annotations

import signal
import sys

INTERRUPTED, TERMINATED = 130, 143  # as a shell counts commands that SIGINT and SIGTERM ended


class _Terminated(BaseException):
    """SIGTERM came; unwinds like an interrupt does, so that no half-written run stays."""


def main() -> int:
    """Run the command line; the exit code."""
    try:
        signal.signal(signal.SIGTERM, _terminate)
        from twin.cli import main as run_command_line

        return run_command_line()
    except KeyboardInterrupt:  # while the first modules are loaded
        return INTERRUPTED
    except _Terminated:
        print("terminated", file=sys.stderr)
        return TERMINATED
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is left to clean up, and Python would print a traceback


def _terminate(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not end the cleaning up
    raise _Terminated


if __name__ == "__main__":
    sys.exit(main())
