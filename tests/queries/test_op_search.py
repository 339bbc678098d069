"""To find operators is plain SQL over host_ops; these are the examples of the documentation."""

from textwrap import dedent

import pytest

OPS = """
    rank  event_id  cat           name                   input_dims              start_ns  dur_ns
    0     1         cpu_op        aten::linear           [[64,32],[8,32],[8]]    0         50
    0     2         cpu_op        aten::addmm            [[8],[64,32],[32,8]]    5         40
    0     3         cpu_op        record_param_comms     [[4]]                   60        99
    0     4         cuda_runtime  cudaLaunchKernel       -                       9         9
    1     5         cpu_op        aten::mm               [[128,32],[32,8]]       0         30
    1     6         cpu_op        aten::mm               [[64,32],[32,8]]        40        20
    1     7         cpu_op        aten::bmm              []                      70        10
    1     8         python_fun    aten::mm               [[64,32],[32,8]]        40        20
"""
ACTIVITIES = """
    rank  event_id  op_id  name   stream  start_ns  dur_ns
    0     11        2      gemm   7       90        400
    0     12        2      copy   8       95        100
    0     13        3      nccl   20      99        900
    1     11        5      gemm   7       90        300
"""

EXAMPLES = {
    "name": (
        """
        -- The longest calls whose name has a word in it.
        SELECT rank, event_id, name, input_dims, dur_ns
        FROM host_ops
        WHERE cat = 'cpu_op' AND contains(name, 'addmm')
        ORDER BY dur_ns DESC, rank, event_id
        LIMIT 5;
    """,
        [(0, 2, "aten::addmm", "[[8],[64,32],[32,8]]", 40)],
    ),
    "pattern": (
        r"""
        -- Which shapes matrix products have: a pattern, since comms has an mm in it, too.
        SELECT name, input_dims, count(*) AS count, sum(dur_ns)::BIGINT AS total_ns
        FROM host_ops
        WHERE cat = 'cpu_op' AND regexp_matches(name, '^aten::(addmm|mm|bmm|baddbmm)$')
        GROUP BY name, input_dims
        ORDER BY total_ns DESC, name, input_dims
        LIMIT 3;
    """,
        [
            ("aten::addmm", "[[8],[64,32],[32,8]]", 1, 40),
            ("aten::mm", "[[128,32],[32,8]]", 1, 30),
            ("aten::mm", "[[64,32],[32,8]]", 1, 20),
        ],
    ),
    "shape and duration": (
        """
        -- Those of a size and a duration: input_dims is JSON, here the rows of the first argument.
        SELECT rank, event_id, name, input_dims, dur_ns
        FROM host_ops
        WHERE cat = 'cpu_op'
          AND name = 'aten::mm'
          AND TRY_CAST(input_dims ->> '$[0][0]' AS BIGINT) >= 64
          AND dur_ns BETWEEN 10 AND 25
        ORDER BY rank, start_ns, event_id;
    """,
        [(1, 6, "aten::mm", "[[64,32],[32,8]]", 20)],
    ),
    "kernels": (
        """
        -- With the kernels that they launched themselves.
        SELECT o.rank, o.event_id, o.name, a.short_name AS kernel, a.stream, a.dur_ns
        FROM host_ops AS o
        JOIN gpu_activities AS a
            ON a.job = o.job AND a.rank = o.rank AND a.op_id = o.event_id
        WHERE o.cat = 'cpu_op' AND regexp_matches(o.name, '^aten::(add)?mm$')
        ORDER BY a.dur_ns DESC, a.rank, a.event_id
        LIMIT 5;
    """,
        [
            (0, 2, "aten::addmm", "gemm", 7, 400),
            (1, 5, "aten::mm", "gemm", 7, 300),
            (0, 2, "aten::addmm", "copy", 8, 100),
        ],
    ),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples(host, example):
    sql, wanted = EXAMPLES[example]
    host.fill(ACTIVITIES, OPS)
    assert host.con.execute(dedent(sql)).fetchall() == wanted
