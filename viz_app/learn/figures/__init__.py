"""The live figures of the chapters: one module for each, and their list (`registry`)."""
