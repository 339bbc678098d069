-- gpu_activities with two more columns: operator_name and kernel_category, as in
-- categorised_activities_of.
--
-- Conditions on the view reach the files: a query for one job reads only the files of this job.
-- Therefore the rules are compared in a subquery, for which DuckDB holds the rows in memory. If the
-- rows are many, categorised_activities_of is faster.
--
-- shared: session
--
-- reads: category_of_rules, gpu_activities, operator_names_of, rule_of_name
CREATE OR REPLACE VIEW categorised_activities AS
SELECT
    a.*,
    o.operator_name,
    category_of_rules(
        a.kind, rule_of_name(a.name, 'kernel'), rule_of_name(o.operator_name, 'operator')
    ) AS kernel_category
FROM gpu_activities AS a
LEFT JOIN operator_names_of(NULL, NULL) AS o
    ON o.job = a.job AND o.rank = a.rank AND o.op_id = a.op_id;
