"""The files under sql/ as queries: their headers, and the documentation made of them."""
