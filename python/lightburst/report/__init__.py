"""Saved results: papers run again, and offline pages of anything that was saved."""
