"""The SQL files."""

from hta_sql.catalogue.catalog import Catalog

CATALOG = Catalog.load()
