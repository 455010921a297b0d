"""The laboratory beside the maps: go through decoding, align, compare, and see what hangs on what.

Each tab is a widget that shows a state object of `viz_app.lab.state` and asks for jobs of `viz_app.lab.jobs`.
"""
