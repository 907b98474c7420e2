"""The triage suite: what is this item, how bad is it, must a person come, and how sure is the triager."""
