"""The live figures of the chapters: one module each, and their list (`registry`)."""
