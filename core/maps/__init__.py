"""Attention maps: measured, labelled, merged, combined, compared.

Shape legend: S source length, T decoding steps, Q query rows, M key columns, D width, H heads, K
head width, L layers; "..." are any leading dimensions, so that a function takes one head or all
heads of a kind.

`core.maps.selection` does not import torch, so a window can use it at once.
"""
