"""The Analysis panel: tabs next to the maps, each with its own view of the current experiment.

A tab is a module, or a package: `view` has the widget and the jobs for the worker; `state`, if
needed, the state without Qt. `declared` has the declarations; see "An analysis tab" in
docs/architecture.md.
"""
