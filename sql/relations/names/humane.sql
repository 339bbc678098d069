-- Amounts as text for people, with three digits and a unit.

-- Three digits of a number of 0 or more: `1.24`, `12.4`, `1,240`.
CREATE OR REPLACE MACRO short_number(amount) AS
CASE
    WHEN amount >= 99.95 THEN format('{:,}', round(amount)::BIGINT)
    WHEN amount >= 9.995 THEN printf('%.1f', amount)
    ELSE printf('%.2f', amount)
END;

-- A duration in ns: `493 ms`, `1.24 ms`, `12.0 µs`, `8 ns`. NULL stays NULL.
CREATE OR REPLACE MACRO humane_ns(amount) AS
CASE
    WHEN amount >= 3600e9 * 0.9995 THEN short_number(amount / 3600e9) || ' h'
    WHEN amount >= 60e9 * 0.9995 THEN short_number(amount / 60e9) || ' min'
    WHEN amount >= 0.9995e9 THEN short_number(amount / 1e9) || ' s'
    WHEN amount >= 0.9995e6 THEN short_number(amount / 1e6) || ' ms'
    WHEN amount >= 0.9995e3 THEN short_number(amount / 1e3) || ' µs'
    ELSE round(amount)::BIGINT || ' ns'
END;

-- A size in bytes, decimal: `1.50 GB`, `64.0 kB`, `12 B`. NULL stays NULL.
CREATE OR REPLACE MACRO humane_bytes(amount) AS
CASE
    WHEN amount >= 0.9995e12 THEN short_number(amount / 1e12) || ' TB'
    WHEN amount >= 0.9995e9 THEN short_number(amount / 1e9) || ' GB'
    WHEN amount >= 0.9995e6 THEN short_number(amount / 1e6) || ' MB'
    WHEN amount >= 0.9995e3 THEN short_number(amount / 1e3) || ' kB'
    ELSE round(amount)::BIGINT || ' B'
END;

-- A share of 1 as a percentage: `12.5 %`. NULL stays NULL.
CREATE OR REPLACE MACRO humane_frac(amount) AS printf('%.1f %%', 100 * amount);

-- A count and what it counts: `1 launch`, `2,345 launches`. NULL stays NULL.
--
-- `one`, `many`: the word for one thing, and for several.
CREATE OR REPLACE MACRO humane_count(amount, one, many) AS
format('{:,}', amount::BIGINT) || ' ' || CASE WHEN amount = 1 THEN one ELSE many END;
