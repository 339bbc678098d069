"""Turns errors of object storage clients into HtaSqlError."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hta_sql.errors import HtaSqlError, one_line

# What to do about errors of object storage, by the names of their types.
_HINTS = {
    "NoCredentialsError": "set them as for the AWS tools: AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY",
    "PermissionError": "check that the credentials in the environment allow it",
    "EndpointConnectionError": "set AWS_ENDPOINT_URL to the URL of the storage",
    "ConnectTimeoutError": "set AWS_ENDPOINT_URL to the URL of the storage",
}


@contextlib.contextmanager
def plain_errors(where: object) -> Iterator[None]:
    """Raise any error of an object storage client, which may be of any type, as HtaSqlError.

    For a missing object it stays a FileNotFoundError, but not for a missing bucket.
    """
    try:
        yield
    except HtaSqlError:
        raise
    except FileNotFoundError as error:
        if "bucket" in str(error.__cause__).lower():
            raise HtaSqlError(f"{where}: {one_line(error)}") from error
        raise
    except Exception as error:
        names = [kind.__name__ for kind in type(error).__mro__]
        hint = next((f"; {_HINTS[name]}" for name in names if name in _HINTS), "")
        raise HtaSqlError(f"{where}: {one_line(error)}{hint}") from error
