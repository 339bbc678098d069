"""Compares two jobs."""
