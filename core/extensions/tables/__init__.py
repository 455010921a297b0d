"""Results as tables, arrays with named dimensions, and plain values."""
