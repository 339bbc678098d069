"""Keeps an archive in order: merges files, drops and moves jobs, and reports their sizes."""
