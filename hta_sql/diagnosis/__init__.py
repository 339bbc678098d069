"""What holds a job back, and what to do about it: on one screen, or as JSON, Markdown or HTML."""
