"""User-defined metrics: expressions over the flow table, in a small language of their own."""

from lightburst.expressions.expression import Expression, beside, check_all, parse, parse_all
from lightburst.expressions.statistic import STATISTICS

__all__ = ["STATISTICS", "Expression", "beside", "check_all", "parse", "parse_all"]
