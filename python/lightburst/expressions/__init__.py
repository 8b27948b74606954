"""Metrics of the user's own: expressions over the table of flows, in a grammar of their own."""

from lightburst.expressions.expression import Expression, beside, check_all, parse, parse_all
from lightburst.expressions.statistic import STATISTICS

__all__ = ["STATISTICS", "Expression", "beside", "check_all", "parse", "parse_all"]
