"""Runs of a sweep: means, comparisons, a cube, and theory beside them."""
