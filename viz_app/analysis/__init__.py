"""The Analysis panel: tabs beside the maps, each of which shows the current experiment in a way of its own.

Each tab is a package: `view`, the widget; `state`, what it knows, without Qt; `job`, what it asks of the worker. The
last two are optional. A new tab is such a package and a line in `viz_app.analysis.registry`.
"""
