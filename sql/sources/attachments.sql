-- The files that go with the archive's traces.
--
-- The pattern stands for one name: a plain name would be looked for in one archive only.
CREATE OR REPLACE VIEW attachments AS
FROM attachments_schema()
UNION ALL BY NAME
FROM read_parquet(
    '[a]ttachments.parquet',
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
);
