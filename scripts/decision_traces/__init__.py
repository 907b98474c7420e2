"""The labelled traces of the decision suite: scenarios, what is done to them, and how they are written down."""
