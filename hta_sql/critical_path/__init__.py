"""Critical paths: what bounds a step, on each rank and across ranks, and the what-ifs."""
