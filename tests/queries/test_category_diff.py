"""What differs between two jobs by kernel category."""

from queries.diffs import TWO
from queries.small_tables import SmallTables

# The operator decides for the softmax of b: attention.
IN_CATEGORIES = {
    "traces": TWO,
    "ops": """
    job event_id name                                            start_ns end_ns
    b   90       aten::_scaled_dot_product_attention_math  0        9
    """,
    "activities": """
    job kind        name          op_id start_ns dur_ns
    a   computation sgemm_32x32   -     0        10
    a   computation sgemm_64x64   -     10       20
    a   computation softmax       -     30       6
    a   memory      Memset        -     40       4
    b   computation sgemm_32x32   -     0        12
    b   computation softmax       90    20       8
    """,
}


def test_categories(compare: SmallTables):
    compare.expect(
        "category_diff",
        f"""
        category  name base_count base_total_ns test_total_ns base_frac diff_frac change
        gemm      -    2          30            12            0.75      {18 / 36} decreased
        attention -    0          0             8             0         {8 / 36}  added
        softmax   -    1          6             0             0.15      {6 / 36}  deleted
        memory    -    1          4             0             0.1       {4 / 36}  deleted
    """,
        **IN_CATEGORIES,
    )


def test_kernels_in_categories(compare: SmallTables):
    compare.expect(
        "category_diff",
        """
        category  name        base_total_ns test_total_ns diff_total_ns change
        gemm      sgemm_64x64 20            0             -20           deleted
        attention softmax     0             8             8             added
        softmax   softmax     6             0             -6            deleted
        memory    Memset      4             0             -4            deleted
        gemm      sgemm_32x32 10            12            2             unchanged
    """,
        **IN_CATEGORIES,
        by_kernel=True,
    )
