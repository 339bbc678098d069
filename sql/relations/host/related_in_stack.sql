-- The rows of `totals`, with the relation of each operation to an event.
--
-- `of_event`: event_id of the event.
-- `totals`: rows of stack_totals.
-- `inside`: rank_number and event_id of the event, and of all operations that the event called.
--
-- The header of the query call_stack explains the values of `relation`. `relation` is NULL if the
-- operation is not related to the event.
CREATE OR REPLACE MACRO related_in_stack(of_event, totals, inside) AS TABLE
SELECT
    totals.*,
    CASE
        WHEN totals.event_id = of_event THEN 'self'
        WHEN totals.holds_place THEN 'ancestor'
        WHEN inside.event_id IS NOT NULL THEN 'descendant'
        WHEN totals.is_forward THEN 'forward'
        WHEN totals.holds_forward THEN 'forward_ancestor'
    END AS relation
FROM query_table(totals) AS totals
LEFT JOIN (SELECT DISTINCT rank_number, event_id FROM query_table(inside)) AS inside
    ON inside.rank_number = totals.rank_number AND inside.event_id = totals.event_id;
