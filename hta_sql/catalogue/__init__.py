"""Reads the files under sql/: their headers and comments, and what they read."""
