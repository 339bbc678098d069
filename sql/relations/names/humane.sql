-- Amounts as text for people, with three digits and a unit.

-- DuckDB puts the argument of a macro in each place where the macro names it, and plans each copy.
-- So these macros name theirs once, as the element of a list, and compute with the element.

-- Three digits of a number of 0 or more: `1.24`, `12.4`, `1,240`.
CREATE OR REPLACE MACRO short_number(amount) AS
list_transform(
    [amount],
    lambda x: CASE
        WHEN x >= 99.95 THEN format('{:,}', round(x)::BIGINT)
        WHEN x >= 9.995 THEN printf('%.1f', x)
        ELSE printf('%.2f', x)
    END
)[1];

-- A duration in ns: `493 ms`, `1.24 ms`, `12.0 µs`, `8 ns`. NULL stays NULL.
CREATE OR REPLACE MACRO humane_ns(amount) AS
list_transform(
    list_transform(
        [amount],
        lambda x: {
            'amount': x,
            'unit': CASE
                WHEN x >= 3600e9 * 0.9995 THEN 5
                WHEN x >= 60e9 * 0.9995 THEN 4
                WHEN x >= 0.9995e9 THEN 3
                WHEN x >= 0.9995e6 THEN 2
                WHEN x >= 0.9995e3 THEN 1
            END
        }
    ),
    lambda x: coalesce(
        short_number(x.amount / [1e3, 1e6, 1e9, 60e9, 3600e9][x.unit])
            || [' µs', ' ms', ' s', ' min', ' h'][x.unit],
        round(x.amount)::BIGINT || ' ns'
    )
)[1];

-- A size in bytes, decimal: `1.50 GB`, `64.0 kB`, `12 B`. NULL stays NULL.
CREATE OR REPLACE MACRO humane_bytes(amount) AS
list_transform(
    list_transform(
        [amount],
        lambda x: {
            'amount': x,
            'unit': CASE
                WHEN x >= 0.9995e12 THEN 4
                WHEN x >= 0.9995e9 THEN 3
                WHEN x >= 0.9995e6 THEN 2
                WHEN x >= 0.9995e3 THEN 1
            END
        }
    ),
    lambda x: coalesce(
        short_number(x.amount / [1e3, 1e6, 1e9, 1e12][x.unit])
            || [' kB', ' MB', ' GB', ' TB'][x.unit],
        round(x.amount)::BIGINT || ' B'
    )
)[1];

-- A share of 1 as a percentage: `12.5 %`. NULL stays NULL.
CREATE OR REPLACE MACRO humane_frac(amount) AS printf('%.1f %%', 100 * amount);

-- A count and what it counts: `1 launch`, `2,345 launches`. NULL stays NULL.
--
-- `one`, `many`: the word for one thing, and for several.
CREATE OR REPLACE MACRO humane_count(amount, one, many) AS
format('{:,}', amount::BIGINT) || ' ' || CASE WHEN amount = 1 THEN one ELSE many END;
