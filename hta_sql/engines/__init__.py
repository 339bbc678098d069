"""Runs work that has many parts: in processes of this machine, or on a Ray cluster."""
