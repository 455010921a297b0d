"""One self-describing file for a trained model: weights, settings, vocabularies, history."""
