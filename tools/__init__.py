"""Programs that make what ships, and measure it; none of them is installed."""
