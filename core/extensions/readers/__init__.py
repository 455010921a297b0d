"""Models of other projects: one reader for each format, found by looking into the file or
folder.
"""
