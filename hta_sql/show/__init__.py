"""What people and machines see of a result: tables, units, formats, notebooks."""
