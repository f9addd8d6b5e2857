"""Exit codes of the commands; what each means stands in ``concepts.EXIT_CODES``."""

CHECK_FAILED = 1
BAD_INPUT = 2
BROKEN_PIPE = 141  # as a shell counts a command that a closed pipe ended
