-- A name as one frame of a folded stack, `a;b;c`.
--
-- There `;` ends a frame and a line a stack, so a name has `:` for the one and a blank for any
-- control character; what has no name is `[unknown]`, as flame graphs call it.
CREATE OR REPLACE MACRO stack_frame(name) AS
coalesce(
    nullif(regexp_replace(replace(name, ';', ':'), '\p{Cc}', ' ', 'g'), ''),
    '[unknown]'
);

-- Of a deeper stack only so many are told.
CREATE OR REPLACE MACRO most_frames() AS 2000;
