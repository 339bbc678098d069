"""What a file's top-level keys say, as columns of `traces` and as values that can be stored."""

from __future__ import annotations

import json

import orjson

from hta_sql.ingestion.problems import paired

# No parser of JSON reads a number of more digits than a double can hold.
MOST_DIGITS = 300


def describe(metadata: dict) -> dict:
    """The columns of `traces` that come from the file's top-level keys."""
    distributed = metadata.get("distributedInfo")
    distributed = distributed if isinstance(distributed, dict) else {}
    devices = metadata.get("deviceProperties")
    devices = [d for d in devices if isinstance(d, dict)] if isinstance(devices, list) else []
    return {
        "world_size": as_int(distributed.get("world_size"), below=2**31),
        "backend": as_text(distributed.get("backend")),
        "host": as_text(metadata.get("host_name") or metadata.get("hostname")),
        "device_name": as_text(devices[0].get("name")) if devices else None,
        "device_count": len(devices) or None,
        "metadata": keys_as_json(metadata),
    }


def as_int(value: object, below: int = 2**62) -> int | None:
    """A number of that size at most; it may be quoted, as some writers do."""
    try:
        number = None if isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and -below <= number < below else None


def as_text(value: object) -> str | None:
    """A text without halves of surrogate pairs; other values as JSON."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return None if value is None else as_json(value)


def as_json(value: object) -> str:
    """A result of json.loads, as JSON that other programs can read."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # orjson writes no halves of surrogate pairs, no long numbers and nothing deep; but only
        # orjson writes NaN as null.
        plain = json.loads(
            json.dumps(value),
            parse_int=lambda digits: int(digits) if len(digits) < MOST_DIGITS else None,
            parse_constant=lambda name: None,
        )
        return paired(json.dumps(plain).encode()).decode()


def keys_as_json(keys: dict) -> str:
    """The same for top-level keys. If one is nested too deeply, each is written separately."""
    try:
        return as_json(keys)
    except RecursionError:
        parts = []
        for key, value in keys.items():
            try:
                parts.append(f"{as_json(key)}:{as_json(value)}")
            except RecursionError:
                parts.append(f'{as_json(key)}:"nested too deeply"')
        return "{" + ",".join(parts) + "}"
