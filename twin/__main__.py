"""``python -m twin`` and the command ``twin``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; the exit code."""
    try:
        from twin.cli import main as run_command_line

        return run_command_line()
    except KeyboardInterrupt:  # while the first modules are loaded
        return 130


if __name__ == "__main__":
    sys.exit(main())
