"""Questions that one run does not answer: one kind of question per file."""
