"""yb-eval's routing suites: `routing`, a regression gate over tiers, and `routing-quality`, over real outcomes."""
