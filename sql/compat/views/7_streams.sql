-- The activities of a rank's streams, with first_id: the first event of each stream.
--
-- `of_rank`: the rank. `of_streams`: the streams, NULL for all.
CREATE OR REPLACE MACRO hta_stream_activities(of_rank, of_streams) AS TABLE
SELECT a.*, min(a.event_id) OVER (PARTITION BY a.stream) AS first_id
FROM gpu_activities AS a
WHERE a.rank = of_rank
  AND (of_streams IS NULL OR list_contains(of_streams, a.stream));
