"""Taking along what the Translate page shows: its menu, and the files that come of it."""
