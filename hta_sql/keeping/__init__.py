"""What keeps an archive in order: fewer files, jobs that go or move, and what takes how much."""
