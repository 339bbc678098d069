"""Where the numbers of an entry come from: a function for each says them."""

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from hta_cases import CASES
from hta_docs.documents import Number, Ours
from real_files import HTA_OUTPUTS


def hta(folder: str, method: str, kind: str = "") -> list[dict[str, str]]:
    """What HTA wrote; of `kind` "no_rounding/", "last_step__" or with its defaults."""
    with open(HTA_OUTPUTS / folder / f"{kind}{method}.csv", newline="") as file:
        return list(csv.DictReader(file))


def raises(folder: str, method: str) -> bool:
    return not list((HTA_OUTPUTS / folder).glob(f"**/*{method}*"))


UNROUNDED = "no_rounding/"


def steps(folder: str) -> list[int]:
    """Those that HTA keeps."""
    [kept] = {case.steps for case in CASES if case.folder == folder and not case.last_step}
    return list(kept)


def one(rows: list[dict], **wanted) -> dict:
    [found] = [row for row in rows if wanted.items() <= row.items()]
    return found


def us(ns: int) -> Decimal:
    return Decimal(ns) / 1000


ENTRY_NUMBERS: dict[str, Callable[[Ours, Path], list[Number]]] = {}


def entry(heading: str):
    def register(numbers: Callable[[Ours, Path], list[Number]]):
        assert heading not in ENTRY_NUMBERS
        ENTRY_NUMBERS[heading] = numbers
        return numbers

    return register
