"""The small model behind the `local` backend: features, weights and how they become probabilities.

Linear models over things that can be named: wordings that stand in a text, words and numbers that a claim shares with its
evidence. Nothing here reads the clock, a hash seed or a network, and every score is a sum of whole numbers, so that an
answer is the same to the last bit on every machine and in every batch.
"""
