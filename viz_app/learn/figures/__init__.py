"""The live figures of the stations: one module for each, and their list (`registry`)."""
