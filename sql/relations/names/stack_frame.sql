-- The text for a name as one frame of a folded stack, `a;b;c`.
--
-- In the folded format, `;` ends a frame and a line break ends a stack. In a name, `;` therefore
-- becomes `:`, and a control character becomes a blank. A missing or empty name becomes
-- `[unknown]`, as in flame graphs.
CREATE OR REPLACE MACRO stack_frame(name) AS
coalesce(
    nullif(regexp_replace(replace(name, ';', ':'), '\p{Cc}', ' ', 'g'), ''),
    '[unknown]'
);

-- The largest number of frames in a stack. Deeper stacks are cut to this number.
CREATE OR REPLACE MACRO most_frames() AS 2000;
