"""Calls that make many runs or compare results, with a module for the result of each."""
