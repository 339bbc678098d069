-- The limits that the rules of `findings` use: one row per rule and limit.
--
-- To change a limit, replace this view by a view with the same columns.
--
-- shared: session
CREATE OR REPLACE VIEW finding_thresholds AS
SELECT
    rule,                    -- name of the rule; `all` for limits of several rules
    name,                    -- name of the limit
    value::DOUBLE AS value,  -- the limit
    text                     -- what the limit means, with its unit
FROM (
    VALUES
        ('all', 'high_frac', 0.10, 'share of a step from which a gain is high'),
        ('all', 'medium_frac', 0.03, 'share of a step from which a gain is medium'),
        ('all', 'low_frac', 0.01, 'share of a step from which a gain is low'),
        ('all', 'least_frac', 0.001, 'share of a step; smaller gains are left out'),
        ('all', 'launch_ns', 5000, 'ns of host time that a launch takes at least'),
        ('all', 'long_wait_ns', 100000, 'ns; launching and queued parts from this on are long'),
        ('all', 'most_call_gap', 100,
         'runtime calls by number per recorded call; above it a trace is thinned out'),
        ('all', 'warm_up_times', 1.5, 'times the median; first steps longer than this are warm-up'),
        ('exposed_communication', 'least_calls', 3,
         'calls of one kind; fewer do not tell a transfer if the other members have no trace'),
        ('far_from_roofline', 'few_blocks', 0.7, 'blocks per multiprocessor; fewer are too few'),
        ('far_from_roofline', 'least_call_ns', 10000,
         'ns of kernels per call; shorter ones are left out'),
        ('far_from_roofline', 'least_few_ns', 4000,
         'the same for matrix products with few rows'),
        ('far_from_roofline', 'most_frac', 0.4,
         'share of the roofline; operators below are far from it'),
        ('far_from_roofline', 'most_rows', 5, 'findings per rank'),
        ('far_from_roofline', 'reachable_frac', 0.7,
         'share of the roofline that kernels can reach'),
        ('far_from_roofline', 'unexplained_frac', 0.5,
         'the same where the shape gives no reason'),
        ('full_precision', 'most_times', 8, 'times that a faster format saves at most'),
        ('full_precision', 'most_times_unknown', 3, 'the same for operators without shapes'),
        ('launch_overhead', 'longest_gap_ns', 100000, 'ns; longer gaps are no launch overhead'),
        ('load_imbalance', 'work_frac', 0.01,
         'share of the time of all kernels; smaller differences of a kernel do not count'),
        ('load_imbalance', 'kernel_frac', 0.1,
         'share of the usual time of a kernel; smaller differences do not count'),
        ('pageable_copies', 'copy_start_ns', 10000, 'ns that a copy takes besides its bytes'),
        ('pageable_copies', 'large_bytes', 1000000,
         'bytes of a copy; the rate of smaller ones does not count'),
        ('pageable_copies', 'unknown_link_gbps', 12, 'GB/s of pinned copies on an unknown link'),
        ('profiler_overhead', 'least_frac', 0.01, 'share of the trace that the profiler takes'),
        ('profiler_overhead', 'most_stack_frac', 0.2,
         'share of host spans that are Python functions'),
        ('slow_collectives', 'bandwidth_frac', 0.5,
         'share of the 90th percentile of the bandwidth; calls below it are slow'),
        ('slow_collectives', 'least_calls', 4, 'collectives of a kind and size to compare'),
        ('small_collectives', 'small_bytes', 1000000, 'bytes; calls below are small'),
        ('stalled_after_launch', 'most_lost_frac', 0.02,
         'share of launches without a kernel; above it the rule is silent'),
        ('step_variance', 'least_span_ns', 100000,
         'ns; shorter spans do not explain long steps'),
        ('step_variance', 'least_steps', 5, 'measured steps; with fewer the rule is silent'),
        ('step_variance', 'least_times', 1.2, 'times the median that the 95th percentile is'),
        ('step_variance', 'long_times', 1.1, 'times the median; longer steps are long'),
        ('straggler', 'slower_frac', 0.03, 'from this on, a rank is slower than its peers'),
        ('unfused_optimizer', 'least_kernels', 50, 'kernels in a step; fewer are left out'),
        ('unfused_optimizer', 'memory_frac', 0.9,
         'share of the bandwidth of memory that a fused update reaches')
) AS limits (rule, name, value, text);

-- A limit of finding_thresholds. NULL if the view has no such row.
CREATE OR REPLACE MACRO limit_of(of_rule, of_name) AS (
    SELECT max(t.value)
    FROM finding_thresholds AS t
    WHERE t.rule = of_rule AND t.name = of_name
);
