"""Two translations compared."""
