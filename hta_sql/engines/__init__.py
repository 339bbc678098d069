"""Where work is done that falls into parts: in processes of this machine, or on a Ray cluster."""
