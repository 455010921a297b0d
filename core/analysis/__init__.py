"""What can be computed from attention maps and models.

Shape legend: S source length, T decoding steps, Q query rows, M key columns, D width, H heads, K head width, L layers;
"..." are any leading dimensions, so that one head or all heads of a kind go through the same function.

`core.analysis.selection` needs no torch: a window can use it at once.
"""
