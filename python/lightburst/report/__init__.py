"""Reproduced papers, and offline pages of saved results."""
