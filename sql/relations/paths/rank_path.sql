-- One row per edge of a rank's critical path, with the columns of path_edges.
--
-- `of_window`: path_window of the path: a step, an annotation or the whole trace.
--
-- reads: path_edges
CREATE OR REPLACE MACRO rank_path(of_job, of_rank, of_window) AS TABLE
SELECT p.*
FROM path_edges AS p
WHERE p.job = of_job AND p.rank = of_rank AND p.path_window = of_window AND p.position IS NOT NULL;
