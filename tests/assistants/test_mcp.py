"""The server as an assistant meets it: over stdio and HTTP, with the protocol's own client."""

import signal
import subprocess
import time

import anyio
import pytest
from assistants.conftest import TOKEN, command
from shared import group_ends

pytestmark = pytest.mark.processes

TOOLS = {"list_queries", "describe_query", "run_query", "sql", "doctor", "compare"}
# Values that JSON does not have.
ODD_VALUES = """
    SELECT make_timestamp_ns(1), [make_timestamp_ns(2)], INTERVAL 1 DAY, 'NaN'::FLOAT, 2::HUGEINT,
        'ab'::BLOB, {'a': DATE '2026-01-01'}, MAP {1: 2}, repeat('x', 1000), uuid(),
        'a'::ENUM('a'), '101'::BIT, union_value(k := 1), '1.5'::DECIMAL(4, 1)
"""


async def answer(client, tool: str, **arguments):
    """What a tool answers, as data."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refusal(client, tool: str, **arguments) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    return result.content[0].text


@pytest.fixture(params=["over_stdio", "over_http"])
def connect(request):
    return request.getfixturevalue(request.param)


def test_five_questions(connect, truth):
    """An assistant that only has the tools finds what the generator planted."""

    async def ask():
        async with connect() as client:
            tools = await client.list_tools()
            assert {tool.name for tool in tools.tools} == TOOLS
            assert all(tool.annotations.read_only_hint for tool in tools.tools)
            assert "'planted' (ranks 0, 1)" in client.instructions

            # 1. What should I fix first, and what does it gain?
            [job] = (await answer(client, "doctor"))["jobs"]
            faults = truth["faults"]
            found = job["findings"][: len(faults)]
            assert [finding["rule"] for finding in found] == [fault["rule"] for fault in faults]
            for finding, fault in zip(found, faults, strict=True):
                assert finding["estimated_gain_ns"] == pytest.approx(fault["gain_ns"], rel=0.25)
            assert found[0]["rank"] == 1

            # 2. How long is each GPU idle?
            idle = await answer(
                client, "run_query", name="temporal_breakdown", columns=["rank", "idle_ns"]
            )
            assert {row["rank"]: row["idle_ns"] for row in idle["rows"]} == {
                rank["rank"]: rank["device"]["idle_ns"] for rank in truth["ranks"]
            }
            assert idle["columns"][1] == {"name": "idle_ns", "type": "int64", "unit": "ns"}

            # 3. Which kernel takes the most time on rank 0?
            kernels = await answer(
                client,
                "sql",
                sql="SELECT name, count(*) AS calls, sum(dur_ns)::BIGINT AS total_ns "
                "FROM gpu_activities WHERE rank = 0 GROUP BY name ORDER BY total_ns DESC",
                limit=1,
            )
            expected = truth["ranks"][0]["kernels"]
            first = max(expected, key=lambda name: expected[name]["total_ns"])
            [row] = kernels["rows"]
            assert (row["name"], row["total_ns"]) == (first, expected[first]["total_ns"])
            assert (row["calls"], kernels["next_offset"]) == (expected[first]["count"], 1)

            # 4. How long do the steps of rank 1 take?
            steps = await answer(
                client, "sql", sql="SELECT step, dur_ns FROM steps WHERE rank = 1 ORDER BY step"
            )
            assert steps["rows"] == [
                {"step": step["step"], "dur_ns": step["dur_ns"]}
                for step in truth["ranks"][1]["steps"]
            ]

            # 5. Is rank 1 slower than rank 0, and by how much do its kernels differ?
            two = await answer(
                client,
                "compare",
                base_job="planted",
                test_job="planted",
                base_ranks=[0],
                test_ranks=[1],
            )
            compute = next(row for row in two["per_step"] if row["name"] == "compute")
            of_rank = [rank["steps"] for rank in truth["ranks"]]
            means = [sum(s["compute_ns"] for s in steps) / len(steps) for steps in of_rank]
            assert compute["base_mean_ns"] == pytest.approx(means[0], rel=0.01)
            assert compute["test_mean_ns"] == pytest.approx(means[1], rel=0.01)
            assert compute["is_beyond_noise"] and two["causes"]

    anyio.run(ask)


def test_queries_and_resources(connect):
    async def ask():
        async with connect() as client:
            found = await answer(client, "list_queries", contains="idle reasons")
            names = [q["name"] for of in found["queries_by_theme"].values() for q in of]
            everything = await answer(client, "list_queries")
            assert len(str(everything)) < 15_000 and len(everything["queries_by_theme"]) > 5
            about = await answer(client, "describe_query", name="idle_reasons")
            assert {"job", "rank"} <= {column["name"] for column in about["columns"]}
            assert all(name in str(everything) for name in names)
            listed = await client.list_resources()
            texts = {}
            for resource in listed.resources:
                [content] = (await client.read_resource(resource.uri)).contents
                texts[str(resource.uri).rpartition("/")[2]] = content.text
            assert set(texts) == {"schema", "catalogue", "glossary"}
            tables = {"## gpu_activities", "## host_ops", "## traces", "## step_marks"}
            assert tables <= set(texts["schema"].splitlines()) and "dur_ns" in texts["schema"]
            assert "kernel_stats(" in texts["catalogue"] and "quarantine" in texts["glossary"]
            assert max(map(len, texts.values())) < 40_000

    anyio.run(ask)


def test_pages(over_stdio):
    async def ask():
        async with over_stdio("--max-rows", 100) as client:
            seen, offset, count = [], 0, None
            while offset is not None:
                page = await answer(
                    client, "run_query", name="kernel_stats", offset=offset, limit=15
                )
                seen += [(row["rank"], row["name"]) for row in page["rows"]]
                assert bool(page["summary"]) == (offset == 0)
                offset, count = page["next_offset"], page["row_count"]
            assert len(set(seen)) == len(seen) == count
            names = "SELECT count(DISTINCT (rank, kind, name)) AS n FROM gpu_activities"
            assert (await answer(client, "sql", sql=names))["rows"] == [{"n": count}]
            [row] = (await answer(client, "sql", sql=ODD_VALUES))["rows"]
            assert list(row.values())[2:6] == ["1 day", None, 2, "6162"]
            text = await refusal(client, "sql", sql="SELECT 1 AS a, 2 AS a")
            assert "two columns are named 'a'" in text
            many = await answer(client, "sql", sql="FROM events", limit=200)
            assert many["has_more_rows"] and many["row_count"] == 100
            assert "aggregate in SQL" in many["notes"][0] and len(str(many)) < 40_000
            none = await answer(client, "run_query", name="critical_path")
            assert none["rows"] == [] and none["notes"]

    anyio.run(ask)


def test_it_serves_nothing_else(over_stdio, tmp_path):
    (tmp_path / "s.csv").write_text("secret\nSENTINEL\n")

    async def ask():
        async with over_stdio("--timeout", 2, "--memory-limit", "300MB") as client:
            for sql in (f"FROM '{tmp_path}/s.csv'", "COPY traces TO 'a.csv'", "SELECT 1; SELECT 2"):
                assert "SENTINEL" not in await refusal(client, "sql", sql=sql)
            path = str(tmp_path)
            text = await refusal(client, "compare", base_job=path, test_job=f"{path}::a")
            assert "has no job" in text
            assert "has no job" in await refusal(client, "doctor", job=path)
            text = await refusal(
                client, "run_query", name="kernel_stats", parameters={"only_jobs": [path]}
            )
            assert "has no job" in text
            assert "no query" in await refusal(client, "run_query", name="read_text")
            assert "no query" in await refusal(client, "describe_query", name="/etc/passwd")
            assert "no parameter" in await refusal(
                client, "run_query", name="kernel_stats", parameters={"models": path}
            )
            # Limits, also those that DuckDB does not hold; the next question is answered.
            for sql in (
                "SELECT count(*) FROM range(1000000000000)",
                "SELECT len(range(900000000))",
            ):
                began = time.monotonic()
                text = await refusal(client, "sql", sql=sql)
                assert "limit" in text or "memory" in text
                assert time.monotonic() - began < 15
            assert (await answer(client, "sql", sql="SELECT 1 AS one"))["rows"] == [{"one": 1}]

    anyio.run(ask)


def test_http_needs_the_token_and_a_local_page(served):
    import httpx2

    port = served.split(":")[2].split("/")[0]
    question = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"},
        },
    }
    good = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
    for change, status in (
        ({}, 200),
        ({"Origin": f"http://127.0.0.1:{port}"}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": f"Bearer {TOKEN}a"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": f"evil.example:{port}"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ):
        got = httpx2.post(served, json=question, headers=good | change)
        assert got.status_code == status, (change, got.text)
    assert httpx2.get(served.replace("/mcp", "/")).status_code == 401
    with pytest.raises(httpx2.ConnectError):  # it listens on no other address
        httpx2.get(f"http://{_other_address()}:{port}/mcp", timeout=2)


def _other_address() -> str:
    return "127.0.0.2"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", [[], ["--http", "0"]])
def test_signals_end_it(planted, number, words):
    server = subprocess.Popen(
        command(planted / "archive", *words),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if words:
        server.stderr.readline()
    else:
        time.sleep(5)
    server.send_signal(number)
    out, err = server.communicate(timeout=10)
    assert "Traceback" not in err and out == ""
    assert server.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert group_ends(server.pid)


def test_the_end_of_the_client_ends_it(planted):
    done = subprocess.run(
        command(planted / "archive"), input="", capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_wrong_archive(tmp_path):
    done = subprocess.run(command(tmp_path / "none"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ") and len(done.stderr.splitlines()) == 1
