"""Read traces into an archive: find files and their ranks, read in parallel, publish."""
