"""Every head over a sample of sentences."""
