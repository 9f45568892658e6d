"""Drift: every difference between a lock and what is installed. Nothing is imported, nothing changed."""
