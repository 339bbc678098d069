"""Two jobs side by side."""
