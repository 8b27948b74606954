"""GOAL schedules: operations of ranks that wait for each other."""

from lightburst.workload.goal.messages import make_messages
from lightburst.workload.goal.reading import read_schedule
from lightburst.workload.goal.schedule import CALC, RECV, SEND, WORDS, Schedule

__all__ = ["CALC", "RECV", "SEND", "WORDS", "Schedule", "make_messages", "read_schedule"]
