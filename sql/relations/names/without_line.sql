-- The name of a Python function without the number of its line: `train.py(7): step` becomes
-- `train.py: step`.
CREATE OR REPLACE MACRO without_line(name) AS
regexp_replace(name, '\(\d+\): ', ': ');
