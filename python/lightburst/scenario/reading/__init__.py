"""Scenario files: reading, messages about them, and their JSON schema."""
