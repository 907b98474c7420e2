"""Templates of `yb-eval plugin new`."""
