"""The tabs beside the maps: decoding step by step, alignment, heads, the share of the source, two translations.

Each tab is a package: `view`, the widget; `state`, what it knows, without Qt; `job`, what it asks of the worker.
"""
