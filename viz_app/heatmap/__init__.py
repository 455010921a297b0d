"""Drawings of maps: colours, images of maps, the grid of heads, one large map, lines."""
