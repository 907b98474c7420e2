"""What answers questions: see `base` for what a backend is and `opening` for those that there are."""
