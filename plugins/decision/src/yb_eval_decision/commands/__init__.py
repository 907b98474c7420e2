"""The commands of the suite: `yb-eval decision list`, `describe`, `check`, `validate`, `schema`, `calibrate`, `bench`."""
