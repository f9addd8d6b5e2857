"""Policy ``fixed_limit``: so many watts per node at most, always."""

from __future__ import annotations


class FixedLimit:
    """A ceiling for the speed of each power profile; it commands no common speed.

    Args:
        limit_w: draw of one node at most [W].
    """

    command = 1.0

    def __init__(self, limit_w: float) -> None:
        self.limit_w = limit_w

    def observe(self, now_s: float, target: float) -> bool:
        """The target is of no interest."""
        return False

    def has_more_to_say(self, target: float) -> bool:
        """Never."""
        return False
