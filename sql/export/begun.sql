-- One row: when the first of the exported ranks begins, on the file's clock.
--
-- Time stamps count from the whole second before, also in an export of a part: long spans begin
-- before the part that they overlap, and Perfetto leaves out times before 0.
SELECT min(t.start_ns + r.shift_ns)
FROM traces AS t
JOIN export_ranks AS r ON r.rank = t.rank
WHERE t.job = getvariable('export_job') AND r.is_chosen
