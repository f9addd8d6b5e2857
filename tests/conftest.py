"""Property tests draw the same examples in every run, and no machine is too slow for them."""

from hypothesis import settings

settings.register_profile("twin", deadline=None, derandomize=True, database=None)
settings.load_profile("twin")
