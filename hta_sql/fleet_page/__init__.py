"""The fleet page: one HTML file with all jobs of an archive. It needs no network.

`jobs` asks for the figures, `words` says where GPU time is lost, `page` writes the HTML, and
page.js sorts, filters and draws.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import HtaSqlError
from hta_sql.export.file import new_file, refuse_inside
from hta_sql.fleet_page.jobs import Jobs
from hta_sql.fleet_page.page import page
from hta_sql.fleet_page.words import lacking
from hta_sql.store.layout import folder_for

if TYPE_CHECKING:
    from hta_sql.archive import Archive

__all__ = ["INDEX", "lacking", "make_folder", "report_of", "write_fleet_page"]

INDEX = "index.html"


def report_of(job: str) -> str:
    """Where the report of a job belongs, below the folder of the fleet page."""
    return f"{folder_for(job)}/report.html"


def make_folder(run: Archive, folder: str | Path) -> Path:
    """Make a folder for pages; it may exist.

    Raises HtaSqlError if it is inside the archive, a file or cannot be made.
    """
    target = Path(folder)
    refuse_inside(run, target)
    for part in (target, *target.parents):
        if part.is_file():
            raise HtaSqlError(f"{part}: is a file; --fleet writes a folder")
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HtaSqlError(f"{folder}: {error.strerror or error}") from error
    return target


def write_fleet_page(run: Archive, folder: str | Path) -> Jobs:
    """Write index.html into `folder`, which is made if it does not exist, and return its jobs.

    The page has the figures that `hta-sql materialize` has stored. Jobs without them are listed.
    The page links to those reports of jobs that are in the folder, each where `report_of` says.
    Raises HtaSqlError if the folder is inside the archive or cannot be written.
    """
    target = make_folder(run, folder)
    jobs = Jobs.of(run)
    with new_file(target / INDEX) as file:
        reports = {job: path for job in jobs.names if (target / (path := report_of(job))).is_file()}
        file.write(page(jobs, str(target.absolute()), reports).encode())
    return jobs
