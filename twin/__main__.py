"""``python -m twin`` and the command ``twin``."""

from __future__ import annotations

import sys

from twin import signals


def main() -> int:
    """Run the command line; the exit code."""
    signals.end_at_once()
    try:
        from twin.cli import main as run_command_line

        return run_command_line()
    finally:
        signals.end_quietly()


if __name__ == "__main__":
    sys.exit(main())
