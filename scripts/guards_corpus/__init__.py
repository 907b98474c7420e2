"""The parts of the guards corpus: rows, writers of numbers and secrets, hand-written texts."""
