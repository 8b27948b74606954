"""Explanations: why a flow was slow, and why a burst was lost."""
