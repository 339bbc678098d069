-- Whether a span is the call in which a data loader returns the next batch.
--
-- PyTorch's DataLoader marks it with an annotation `enumerate(DataLoader)#…`. Traces with Python
-- stacks also have the function itself.
CREATE OR REPLACE MACRO is_loader_span(cat, name) AS
(
    (cat = 'user_annotation' AND prefix(name, 'enumerate(DataLoader)'))
    OR (
        cat = 'python_function'
        AND (suffix(name, '): __next__') OR suffix(name, '): _next_data'))
        AND contains(name, 'torch/utils/data/dataloader.py(')
    )
) IS TRUE;
