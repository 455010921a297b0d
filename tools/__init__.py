"""Programs that create and measure shipped files. They are not installed."""
