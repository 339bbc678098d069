"""Host operations and what links them."""

from hand_written import ingested, rows, trace_text

ENGINE = "autograd::engine::evaluate_function: "


def links(folder, events: list[dict], column: str) -> dict[str, str | None]:
    """name → the name of what this column points to, for every host operation."""
    archive = ingested(folder, trace_text(events))
    return dict(
        rows(
            archive,
            f"""
        SELECT o.name, target.name AS target
        FROM host_ops AS o
        LEFT JOIN host_ops AS target ON target.event_id = o.{column}
        ORDER BY o.event_id
    """,
        )
    )
