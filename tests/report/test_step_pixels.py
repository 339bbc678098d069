"""Idle time has as many pixels in the picture of a step as it has of the step, in real traces."""

import pytest
import raw_json
from browser import visited
from real_files import TRACE_FILES

from hta_sql.report import write_report

READY = "document.querySelector('.step')?.picture !== undefined"
JOBS = ("mi210_gpu_only", "alexnet", "two_ranks", "trace_diff/control", "sglang_prefill")
# The share of pixels of a device's row that are as far from the ground as the bars.
PIXELS = """() => {
    const { picture } = document.querySelector('.step');
    picture.window.path = [];
    for (const row of picture.rows) if (row.device) row.device.gaps = [];
    picture.draw();
    const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    const ground = rgb(picture.ground);
    const away = (colour) => Math.hypot(...ground.map((part, at) => part - colour[at]));
    const least = Math.min(...picture.data.categories.map(([, colour]) => away(rgb(colour))));
    return picture.rows.filter((row) => row.device).map((row) => {
        const { top, height } = picture.box(row);
        const { data } = picture.view.pen.getImageData(0, top, picture.canvas.width, height);
        let busy = 0;
        for (let at = 0; at < data.length; at += 4) {
            busy += Math.min(1, away([data[at], data[at + 1], data[at + 2]]) / least);
        }
        return [row.device.name, 1 - busy / (picture.canvas.width * height)];
    });
}"""


def idle_shares(job: str, rank: int, step: int | None) -> dict[str, float]:
    """By the JSON: of each GPU, the share of the time from the first event of the step to the end
    of the last in which nothing runs."""
    [file] = [file for file in TRACE_FILES if (file.job, file.rank) == (job, rank)]
    raw = raw_json.read(file)
    if step is None:
        spans = [(span.start_ns, span.end_ns) for span in raw.spans]
    else:
        spans = [(span.start_ns, span.end_ns) for number, span in raw.step_marks if number == step]
        spans += [(a["start_ns"], a["end_ns"]) for a in raw.activities if a["step"] == step]
    begin, end = min(start for start, _ in spans), max(until for _, until in spans)
    shares = {}
    for device in {activity["device"] for activity in raw.activities}:
        busy, until = 0, begin
        for start, stop in sorted(
            (a["start_ns"], min(end, a["end_ns"])) for a in raw.activities if a["device"] == device
        ):
            busy += max(0, stop - max(start, until))
            until = max(until, stop)
        if busy:
            shares[f"GPU {device}"] = 1 - busy / (end - begin)
    return shares


@pytest.mark.real
@pytest.mark.parametrize("job", JOBS)
def test_idle_time_is_as_visible_as_it_is_long(chromium, real_run, tmp_path, job):
    assert write_report(real_run, tmp_path / "report.html", job=job) == []
    for width in (1280, 1920):
        with visited(chromium, tmp_path / "report.html", width, until=READY) as visit:
            rank, step = visit.page.evaluate(
                "(({ rank, step }) => [rank, step])(document.querySelector('.step').picture.window)"
            )
            expected = idle_shares(job, rank, step)
            drawn = dict(visit.page.evaluate(PIXELS))
            assert drawn.keys() == expected.keys() and expected
            for name, share in expected.items():
                assert drawn[name] == pytest.approx(share, abs=0.015), (name, width)
