-- What HTA keeps of the tables, with its rounding.
--
-- A GPU activity goes with its launch. Without a launch, it goes by its own start.
CREATE OR REPLACE VIEW gpu_activities AS
SELECT
    a.* REPLACE (
        hta_start(a.start_ns, r.base_ns) AS start_ns,
        hta_end(a.start_ns, a.end_ns, r.base_ns) AS end_ns,
        hta_end(a.start_ns, a.end_ns, r.base_ns) - hta_start(a.start_ns, r.base_ns) AS dur_ns,
        hta_start(a.launch_start_ns, r.base_ns) AS launch_start_ns,
        hta_end(a.launch_start_ns, a.launch_end_ns, r.base_ns) AS launch_end_ns
    )
FROM recorded_activities AS a
JOIN hta_ranks AS r ON r.rank = a.rank
WHERE r.until_ns IS NULL OR coalesce(a.launch_start_ns, a.start_ns) < r.until_ns;

CREATE OR REPLACE VIEW host_ops AS
SELECT
    h.* REPLACE (
        hta_start(h.start_ns, r.base_ns) AS start_ns,
        hta_end(h.start_ns, h.end_ns, r.base_ns) AS end_ns,
        hta_end(h.start_ns, h.end_ns, r.base_ns) - hta_start(h.start_ns, r.base_ns) AS dur_ns
    )
FROM recorded_host_ops AS h
JOIN hta_ranks AS r ON r.rank = h.rank
WHERE r.until_ns IS NULL OR h.start_ns < r.until_ns;

CREATE OR REPLACE VIEW events AS
SELECT
    e.* REPLACE (
        hta_start(e.start_ns, r.base_ns) AS start_ns,
        hta_end(e.start_ns, e.end_ns, r.base_ns) AS end_ns,
        hta_end(e.start_ns, e.end_ns, r.base_ns) - hta_start(e.start_ns, r.base_ns) AS dur_ns
    )
FROM recorded_events AS e
JOIN hta_ranks AS r ON r.rank = e.rank
WHERE r.until_ns IS NULL OR e.start_ns IS NULL OR e.start_ns < r.until_ns;
