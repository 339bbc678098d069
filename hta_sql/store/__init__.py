"""The files of an archive: where its tables are, and which files count."""
