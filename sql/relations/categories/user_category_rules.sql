-- Rules from the file category_rules.csv of the user, which come before all others. Without the
-- file: no rows.
--
--     pattern     as in category_rules
--     applies_to  operator or kernel
--     category    any text
CREATE OR REPLACE VIEW user_category_rules AS
SELECT NULL::VARCHAR AS pattern, NULL::VARCHAR AS applies_to, NULL::VARCHAR AS category
WHERE false;
