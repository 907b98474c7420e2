"""The suite's own commands: `yb-eval agent-routing capture` and `import`."""
