"""Training rows, training and report of the local decision model (`scripts/train_decision_local.py`)."""
