"""What notebooks show of results, and maps in figures of one's own. No Qt."""
