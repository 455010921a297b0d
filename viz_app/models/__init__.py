"""Opening models."""
