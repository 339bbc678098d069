"""Files on disk and in object storage."""
