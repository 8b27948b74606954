"""One run: a plan to the counts of the simulator."""
