-- get_potential_stragglers: the ranks for which others wait, the worst first.
--
-- $steps: the steps.
SELECT rank
FROM stragglers_v1(only_steps := $steps)
ORDER BY position
