-- A name as one frame of a folded stack, `a;b;c`.
--
-- In the folded format `;` ends a frame and a line break ends a stack. So `;` in a name becomes
-- `:`, and a control character becomes a blank. A missing name becomes `[unknown]`, as flame graphs
-- call it.
CREATE OR REPLACE MACRO stack_frame(name) AS
coalesce(
    nullif(regexp_replace(replace(name, ';', ':'), '\p{Cc}', ' ', 'g'), ''),
    '[unknown]'
);

-- The number of frames to which deeper stacks are cut.
CREATE OR REPLACE MACRO most_frames() AS 2000;
