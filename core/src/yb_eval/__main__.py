"""`python -m yb_eval`: the same as `yb-eval`."""

from yb_eval.cli import entry

entry()
