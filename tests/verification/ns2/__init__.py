"""Runs of ns-2's TCP agents, stored, to compare with."""
