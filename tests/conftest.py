"""Property tests draw the same examples in every run, and no machine is too slow for them; commands run in process."""

import pytest
from hypothesis import settings

from twin import cli

settings.register_profile("twin", deadline=None, derandomize=True, database=None)
settings.load_profile("twin")


@pytest.fixture
def run(capsys):
    """Runs a command line; what comes out is the exit code, stdout and stderr."""

    def command(*arguments):
        code = cli.main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command
