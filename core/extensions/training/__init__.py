"""Loss, schedules, the loop, its events, and how a run is resumed."""
