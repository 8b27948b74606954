"""Messages that wait for others, in the result of a run: collectives and GOAL schedules."""
