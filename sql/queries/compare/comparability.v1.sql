-- Whether two jobs can be compared, and what weakens the comparison.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
--     name        condition                                        if it fails
--     gpu         both run on the same kind of GPU                 prevents
--     world_size  both programs have the same number of ranks      prevents
--     activities  both have GPU activities, or both have none      prevents
--     steps       both have steps, or both have none               prevents
--                 both have three steps or more, to measure noise  weakens
--     shapes      both have operators, or both have none           prevents
--                 both have recorded shapes, or both have none     weakens
--                 operators run on the same shapes                 prevents
--     ranks       both have the same number of traced ranks        weakens
--     stacks      both have Python stacks, or both have none       weakens
--     traces      all traces are complete, without lost events     weakens
--
-- A call of an operator has a match if the other side calls an operator with the same name on the
-- same shapes. The operators run on different shapes if, on either side, fewer than half of the
-- calls with recorded shapes have a match. If only a few operators run on other shapes, diff_causes
-- reports them as causes.
--
-- If a side does not record gpu or world_size, the value is NULL and the effect is none. Recording
-- Python stacks slows the host. If steps are selected, only `steps`, `shapes` and `stacks` cover
-- just these steps. The other values cover whole traces.
--
-- since: 0.1
-- grain: name
-- needs: traces
-- returns:
--   name        VARCHAR  -  property that is compared, as above
--   base_value  VARCHAR  -  value of the base
--   test_value  VARCHAR  -  value of the test
--   effect      VARCHAR  -  none; weakens: read the results with care; prevents: the two sides
--                           measure different things
--   reason      VARCHAR  -  reason in words; NULL if the effect is none
-- check: effect IN ('none', 'weakens', 'prevents')
-- check: (reason IS NULL) = (effect = 'none')
-- reads: facts_of_sides
CREATE OR REPLACE MACRO comparability_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the whole trace]
    test_steps BIGINT[] := NULL  -- steps of the test [default: the whole trace]
) AS TABLE
WITH
facts AS (
    FROM facts_of_sides(
        base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
    )
),
verdicts AS (
    SELECT
        unnest([
            {
                'place': 1,
                'name': 'gpu',
                'base_value': base.gpu,
                'test_value': test.gpu,
                'effect': CASE WHEN base.gpu <> test.gpu THEN 'prevents' ELSE 'none' END,
                'said': 'they ran on different GPUs'
            },
            {
                'place': 2,
                'name': 'world_size',
                'base_value': base.world_size::VARCHAR,
                'test_value': test.world_size::VARCHAR,
                'effect': CASE
                    WHEN base.world_size <> test.world_size THEN 'prevents'
                    ELSE 'none'
                END,
                'said': 'the programs have different numbers of ranks'
            },
            {
                'place': 3,
                'name': 'activities',
                'base_value': base.activity_count::VARCHAR,
                'test_value': test.activity_count::VARCHAR,
                'effect': CASE
                    WHEN (base.activity_count > 0) <> (test.activity_count > 0) THEN 'prevents'
                    ELSE 'none'
                END,
                'said': 'only one of them has GPU activities'
            },
            {
                'place': 4,
                'name': 'steps',
                'base_value': base.step_count::VARCHAR,
                'test_value': test.step_count::VARCHAR,
                'effect': CASE
                    WHEN (base.step_count > 0) <> (test.step_count > 0) THEN 'prevents'
                    WHEN least(base.step_count, test.step_count) < 3 THEN 'weakens'
                    ELSE 'none'
                END,
                'said': CASE
                    WHEN (base.step_count > 0) <> (test.step_count > 0)
                    THEN 'only one of them has steps'
                    WHEN base.step_count = 0
                    THEN 'without steps, counts and times depend on how long was recorded'
                    ELSE 'less than three steps hardly tell how much a step varies'
                END
            },
            {
                'place': 5,
                'name': 'shapes',
                'base_value': base.shaped_count::VARCHAR,
                'test_value': test.shaped_count::VARCHAR,
                'effect': CASE
                    WHEN (base.op_count > 0) <> (test.op_count > 0) THEN 'prevents'
                    WHEN (base.shaped_count > 0) <> (test.shaped_count > 0) THEN 'weakens'
                    WHEN 2 * base.common_count < base.shaped_count THEN 'prevents'
                    WHEN 2 * test.common_count < test.shaped_count THEN 'prevents'
                    ELSE 'none'
                END,
                'said': CASE
                    WHEN (base.op_count > 0) <> (test.op_count > 0)
                    THEN 'only one of them has operators'
                    WHEN (base.shaped_count > 0) <> (test.shaped_count > 0)
                    THEN 'only one of them has the shapes of inputs (record_shapes)'
                    ELSE concat(
                        'only ',
                        round(
                            100 * least(
                                base.common_count / nullif(base.shaped_count, 0),
                                test.common_count / nullif(test.shaped_count, 0)
                            )
                        )::BIGINT,
                        ' % of the operators of one ran on shapes that the other has'
                    )
                END
            },
            {
                'place': 6,
                'name': 'ranks',
                'base_value': base.rank_count::VARCHAR,
                'test_value': test.rank_count::VARCHAR,
                'effect': CASE
                    WHEN base.rank_count <> test.rank_count THEN 'weakens'
                    ELSE 'none'
                END,
                'said': 'the archive has different numbers of their ranks'
            },
            {
                'place': 7,
                'name': 'stacks',
                'base_value': base.frame_count::VARCHAR,
                'test_value': test.frame_count::VARCHAR,
                'effect': CASE
                    WHEN (base.frame_count > 0) <> (test.frame_count > 0) THEN 'weakens'
                    ELSE 'none'
                END,
                'said':
                    'only one was recorded with Python''s stacks (with_stack), which slows the host'
            },
            {
                'place': 8,
                'name': 'traces',
                'base_value': concat(
                    base.broken_count,
                    ' incomplete',
                    ', ' || base.quarantined_count || ' events lost'
                ),
                'test_value': concat(
                    test.broken_count,
                    ' incomplete',
                    ', ' || test.quarantined_count || ' events lost'
                ),
                'effect': CASE
                    WHEN base.broken_count > 0 OR test.broken_count > 0
                        OR base.quarantined_count > 0 OR test.quarantined_count > 0
                    THEN 'weakens'
                    ELSE 'none'
                END,
                'said': 'some of the traces could not be read whole'
            }
        ], recursive := true)
    FROM facts
)
SELECT
    name,
    base_value,
    test_value,
    effect,
    CASE WHEN effect <> 'none' THEN said END AS reason
FROM verdicts
ORDER BY place;
