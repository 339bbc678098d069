"""The files under sql/: what they say of themselves, and what they read."""
