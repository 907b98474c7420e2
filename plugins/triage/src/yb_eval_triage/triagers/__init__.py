"""The reference triagers and what they stand on.

`builtin` learns from the task's training rows (`model`, `features`, `operating`); `rules` reads a file of words;
`audit` and `near_duplicates` look at the labels themselves.
"""
