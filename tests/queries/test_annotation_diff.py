"""What differs between the annotated stages of two jobs."""

from queries.diffs import TWO
from queries.small_tables import SmallTables


def test_stages(compare: SmallTables):
    #  main      [ ProfilerStep#1                                 )
    #            [ forward )   [ backward              )
    #              launch 1      . . . waits . . . . .
    #  autograd                    [ node: launch 2   )
    compare.expect(
        "annotation_diff",
        """
        name         base_count base_total_ns base_kernel_count base_kernel_ns test_count change
        forward      1          30            1                 5              0          deleted
        ProfilerStep 1          100           2                 12             1          unchanged
        backward     1          40            1                 7              1          unchanged
    """,
        traces=TWO,
        ops="""
        job tid cat name event_id root_id annotation_id caller_id start_ns dur_ns step
        a 1 user_annotation ProfilerStep#1 1 1 - - 0 100 1
        a 1 user_annotation forward 2 1 1 - 0 30 1
        a 1 cuda_runtime launch 3 1 2 - 5 1 1
        a 1 user_annotation backward 4 1 1 - 40 40 1
        a 2 cpu_op node 5 5 - 4 45 30 1
        a 2 cuda_runtime launch 6 5 - - 50 1 1
        b 1 user_annotation ProfilerStep#9 1 1 - - 0 90 9
        b 1 user_annotation backward 2 1 1 - 40 40 9
    """,
        activities="""
        job event_id annotation_id launch_id start_ns dur_ns step
        a   10       2             3         60       5      1
        a   11       -             6         70       7      1
    """,
    )


def test_stages_that_no_thread_waits_in(compare: SmallTables):
    # No operation has a caller_id, which DuckDB knows from the statistics of its table. It must not
    # conclude that the durations add up to 0.
    #  rank 0  [ load 200 )[ forward 300 )|forward
    compare.expect(
        "annotation_diff",
        """
        name    base_count base_total_ns test_count test_total_ns diff_total_ns change
        forward 2          300           0          0             -300          deleted
        load    1          200           0          0             -200          deleted
    """,
        ops="""
        cat             name    start_ns dur_ns
        user_annotation load    0        200
        user_annotation forward 200      300
        user_annotation forward 500      0
    """,
        base_ranks=[0],
        test_ranks=[1],
    )
