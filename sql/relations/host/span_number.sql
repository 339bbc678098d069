-- One integer for a host operation of an archive: faster to sort and to join than job, rank and
-- event_id. `rank_number` is a number from 1 for the job and rank, unique in the query.

-- The number of the host operation `event_id`. NULL if this is NULL.
CREATE OR REPLACE MACRO span_number(rank_number, event_id) AS
(rank_number << 40) + event_id;

-- The event_id of a host operation with this number.
CREATE OR REPLACE MACRO event_id_of_span(span) AS
span & ((1::BIGINT << 40) - 1);

-- The rank_number of a host operation with this number.
CREATE OR REPLACE MACRO rank_number_of_span(span) AS
span >> 40;
