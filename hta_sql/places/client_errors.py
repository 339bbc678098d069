"""Errors that clients of object storage raise, as ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hta_sql.errors import HtaSqlError, one_line

# What to do about errors of object storage, by their types' names.
_HINTS = {
    "NoCredentialsError": "give them as to the AWS tools: AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY",
    "PermissionError": "do the credentials in the environment allow it?",
    "EndpointConnectionError": "AWS_ENDPOINT_URL tells where the storage is",
    "ConnectTimeoutError": "AWS_ENDPOINT_URL tells where the storage is",
}


@contextlib.contextmanager
def plain_errors(where: object) -> Iterator[None]:
    """What a client of object storage raises as ours, since it may be of any type. That there is
    no such object stays a FileNotFoundError, but for a whole bucket."""
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
