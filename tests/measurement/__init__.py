"""Tests of the optional measurements, a file for each."""
