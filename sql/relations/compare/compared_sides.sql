-- One row per side of a comparison (base or test): side, job, ranks and step_numbers.
--
-- ranks is the parameter base_ranks or test_ranks. step_numbers is the parameter base_steps or
-- test_steps. Each of the two columns is NULL if its parameter is NULL.
--
-- reads: compared_jobs
CREATE OR REPLACE MACRO compared_sides(
    base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
) AS TABLE
WITH
both_sides AS (
    SELECT unnest([
        {
            'side': 'base',
            'job': c.base,
            'ranks': base_ranks::INTEGER[],
            'step_numbers': base_steps::BIGINT[]
        },
        {
            'side': 'test',
            'job': c.test,
            'ranks': test_ranks::INTEGER[],
            'step_numbers': test_steps::BIGINT[]
        }
    ]) AS s
    FROM compared_jobs(base_job, test_job) AS c
)
SELECT s.side, s.job, s.ranks, s.step_numbers
FROM both_sides;
