"""What assistants can ask of an open archive. Every answer is a dict that JSON can hold."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.layers import comment_on_views
from hta_sql.database.no_data import why_no_rows
from hta_sql.database.selection import check_selection, ranks_by_job, some, unknown
from hta_sql.database.stored_results import lacking_paths, lacking_stored
from hta_sql.errors import BadParameter, HtaSqlError, from_duckdb
from hta_sql.mcp.pages import MOST_BYTES, Page, page_of, plain
from hta_sql.show.formats import first_twice, printable

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from hta_sql.archive import Archive

_KEPT_RESULTS = 4
_MOST_JOBS = 20
_CAUSES = 10
_SEVERITIES = ("high", "medium", "low", "info")


class Tools:
    """The tools on one open archive. `most_rows` is how many rows of a result are read."""

    def __init__(self, archive: Archive, most_rows: int) -> None:
        self._archive = archive
        self._most_rows = most_rows
        self._kept: OrderedDict[str, tuple[pa.Table, bool, list[str]]] = OrderedDict()

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """What the tool or resource answers."""
        self._archive.session.look_anew()
        return getattr(self, name)(**arguments)

    def jobs(self) -> dict[str, Any]:
        ranks = ranks_by_job(self._archive.session)
        return {
            "job_count": len(ranks),
            "jobs": [
                {"job": plain(job), "rank_count": len(of), "ranks": some(of)}
                for job, of in list(ranks.items())[:_MOST_JOBS]
            ],
        }

    def list_queries(self, contains: str | None) -> dict[str, Any]:
        words = (contains or "").lower().split()
        themes: dict[str, list[dict[str, str]]] = {}
        for name, query in Catalog.load().newest.items():
            if all(word in f"{name} {query.theme} {query.summary}".lower() for word in words):
                about = {"name": name, "summary": query.summary}
                themes.setdefault(query.theme, []).append(about)
        return {"queries_by_theme": themes}

    def describe_query(self, name: str) -> dict[str, Any]:
        query = Catalog.load().find(name)
        return {
            "name": query.name,
            "version": query.version,
            "summary": query.summary,
            "text": query.text,
            "parameters": [
                {
                    "name": p.name,
                    "type": p.type,
                    "is_required": p.default is None,
                    "default": p.shown_default,
                    "text": p.text,
                }
                for p in query.parameters
            ],
            "columns": [asdict(column) for column in query.columns],
            "one_row_per": list(query.grain),
            "example_sql": f"SELECT * FROM {query.name}() LIMIT 10",
        }

    def run_query(
        self,
        name: str,
        parameters: dict[str, Any] | None,
        columns: list[str] | None,
        offset: int,
        limit: int,
    ) -> Page:
        query = Catalog.load().find(name)
        given = parameters or {}
        _, values = query.call(given)
        session = self._archive.session
        check_selection(session, values)

        def ask() -> tuple[duckdb.DuckDBPyRelation, list[str]]:
            lacking = lacking_stored(session, [query.macro])
            return self._archive.relation_of(query, given), lacking

        def why_empty() -> list[str]:
            return why_no_rows(session, query, values)

        return self._page(f"{name} {values}", ask, why_empty, columns, offset, limit)

    def sql(self, sql: str, offset: int, limit: int) -> Page:
        session = self._archive.session

        def ask() -> tuple[duckdb.DuckDBPyRelation, list[str]]:
            relation = self._archive.relation(sql)
            called = self._archive.called_in(sql)
            return relation, lacking_stored(session, called) + lacking_paths(session, called)

        return self._page(sql, ask, list, None, offset, limit)

    def doctor(self, job: str | None, severity: str) -> dict[str, Any]:
        from hta_sql.diagnosis.read import diagnoses_of
        from hta_sql.diagnosis.subject import Subject
        from hta_sql.diagnosis.words import answer

        if severity not in _SEVERITIES:
            raise BadParameter(f"severity is {' or '.join(_SEVERITIES)}, not {severity!r}")
        there = list(ranks_by_job(self._archive.session))
        if job is not None:
            self._check_job(job, there)
        elif len(there) > _MOST_JOBS:
            raise HtaSqlError(
                f"the archive has {len(there):,} jobs; choose one, for example from the query "
                "low_utilisation_jobs"
            )
        found = diagnoses_of(Subject(self._archive, "ARCHIVE", None if job is None else [job]))
        return {"jobs": [self._diagnosis(one, severity) | {"answer": answer(one)} for one in found]}

    def compare(
        self,
        base_job: str,
        test_job: str,
        base_ranks: list[int] | None,
        test_ranks: list[int] | None,
        base_steps: list[int] | None,
        test_steps: list[int] | None,
    ) -> dict[str, Any]:
        from hta_sql.comparison.comparison import Comparison
        from hta_sql.comparison.sides import check

        there = list(ranks_by_job(self._archive.session))
        for job in (base_job, test_job):
            self._check_job(job, there)
        given = {
            "base_ranks": base_ranks,
            "test_ranks": test_ranks,
            "base_steps": base_steps,
            "test_steps": test_steps,
        }
        lists = {name: chosen for name, chosen in given.items() if chosen is not None}
        check(self._archive, base_job, test_job, lists)
        two = Comparison(self._archive, base_job, test_job, lists, None)
        return plain(
            {
                "headline": two.headline,
                "not_comparable": two.reasons["prevents"],
                "take_care": two.reasons["weakens"],
                "cause_count": len(two.causes),
                "causes": [cause["text"] for cause in two.causes[:_CAUSES]],
                "per_step": [
                    {
                        "name": row["name"],
                        "base_mean_ns": row["base_mean_ns"],
                        "test_mean_ns": row["test_mean_ns"],
                        "diff_ns": row["diff_mean_ns"],
                        "is_beyond_noise": row["is_significant"],
                    }
                    for row in two.steps
                ],
                "more": "run_query with diff_causes, op_diff, kernel_diff or step_diff",
            }
        )

    def schema(self) -> str:
        """The tables with their columns, in Markdown."""
        # A view loses its comments when it is made to read the archive's files.
        comment_on_views(self._archive.session.con, self._archive.session.catalog)
        found = self._archive.session.con.execute(
            "SELECT v.view_name, v.comment, c.column_name, c.data_type, c.comment "
            "FROM duckdb_views() AS v JOIN duckdb_columns() AS c ON c.table_name = v.view_name "
            "WHERE NOT v.internal AND v.comment IS NOT NULL ORDER BY v.view_name, c.column_index"
        ).fetchall()
        lines, last = ["# Tables", ""], None
        for view, about, column, kind, text in found:
            if view != last:
                lines += ["", f"## {view}", "", about, ""]
            lines.append(f"- `{column}` {kind}: {text or ''}")
            last = view
        return "\n".join(lines)

    def _page(
        self,
        key: str,
        ask: Callable[[], tuple[duckdb.DuckDBPyRelation, list[str]]],
        why_empty: Callable[[], list[str]],
        columns: list[str] | None,
        offset: int,
        limit: int,
    ) -> Page:
        """A page of a result, which is asked once for all of its pages."""
        if offset < 0 or limit < 0:
            raise BadParameter("offset and limit are not negative")
        if not offset or key not in self._kept:
            self._kept.pop(key, None)
            self._kept[key] = self._read(ask, why_empty)
            while len(self._kept) > _KEPT_RESULTS:
                self._kept.popitem(last=False)
        table, has_more, notes = self._kept[key]
        if columns is not None:
            if missing := [name for name in columns if name not in table.column_names]:
                raise BadParameter(unknown("the result", "column", missing, table.column_names))
            table = table.select(columns)
        return page_of(table, has_more, offset, limit, notes)

    def _read(
        self,
        ask: Callable[[], tuple[duckdb.DuckDBPyRelation, list[str]]],
        why_empty: Callable[[], list[str]],
    ) -> tuple[pa.Table, bool, list[str]]:
        """The rows that are read of a result, whether it has more, and notes."""
        import duckdb

        with self._archive.session.unmoved():
            relation, notes = ask()
            if twice := first_twice(relation.columns):
                raise HtaSqlError(f"two columns are named {twice!r}; rename one of them with AS")
            try:
                table = printable(relation.limit(self._most_rows + 1)).to_arrow_table()
            except duckdb.Error as error:
                raise from_duckdb(error) from error
        if not len(table):
            notes += why_empty()
        has_more = len(table) > self._most_rows
        if has_more:
            table = table.slice(0, self._most_rows)
            notes.append(f"only the first {self._most_rows:,} rows are read; aggregate in SQL")
        return table, has_more, notes

    def _diagnosis(self, one: Any, severity: str) -> dict[str, Any]:
        shown = one.of_severity(severity)
        found = plain(one.to_dict()) | {"findings": [], "left_out_count": 0}
        size = 0
        for finding in shown:
            about = plain(asdict(finding))
            del about["job"], about["see"]
            size += len(str(about))
            if size > MOST_BYTES:
                break
            found["findings"].append(about)
        found["left_out_count"] = len(one.findings) - len(found["findings"])
        return found

    def _check_job(self, job: str, there: list[str]) -> None:
        if job not in there:
            raise BadParameter(unknown("the archive", "job", [job], there))
