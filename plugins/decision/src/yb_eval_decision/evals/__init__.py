"""The built-in evals, one idea a module. `agent`, `security` and `quality` beside this folder export them."""
