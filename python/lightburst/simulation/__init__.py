"""One run: from a plan to the counts of the simulator."""
