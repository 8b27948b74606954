"""Runs of a study: which are left to do, progress, memory, and when there are enough."""
