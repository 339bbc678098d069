"""Fleet queries over stored results written in the test itself."""

from typing import Any

import pyarrow as pa
from queries.small_tables import Rows, SmallTables


class StoredTables(SmallTables):
    """The catalogue over tables that tests fill with rows, stored results among them."""

    def __init__(self, *kept: str) -> None:
        super().__init__()
        self.kept = {
            name: self.con.sql(f"FROM stored_{name}_schema()").to_arrow_table().schema
            for name in kept
        }
        self.keep()

    def keep(self, **stored: Rows) -> None:
        """Replace the stored rows of all queries; columns left out are NULL."""
        for name, schema in self.kept.items():
            rows = pa.Table.from_pylist(stored.get(name, []), schema=schema)
            self.con.register("filled", rows)
            self.con.execute(f"CREATE OR REPLACE TABLE given_stored_{name} AS FROM filled")
            self.con.execute(f"CREATE OR REPLACE VIEW stored_{name} AS FROM given_stored_{name}")
            self.con.unregister("filled")

    def result(self, name: str, **parameters: Any) -> Rows:
        """A query's rows, of which its header's promises hold."""
        assert self.broken_promises(name, **parameters) == []
        return self.run(name, **parameters)
