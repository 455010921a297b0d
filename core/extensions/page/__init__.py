"""Models for pages that run in a browser without network or server: their data, and the script that
computes.
"""
