"""The sha256 of weights.json. Written by scripts/train_decision_local.py."""

WEIGHTS_SHA256 = "193fd11f39604bfdf96cfc1707b572f34f04d2b6e226dc2ecf2f765b44d67bcc"
