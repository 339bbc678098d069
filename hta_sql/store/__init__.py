"""An archive as files: where its tables are, and which files count."""
