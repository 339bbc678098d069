-- The annotations that frameworks put around an iteration: one row per rule.
--
--     position      the first rule that an annotation of a trace matches gives its steps
--     framework     the program that writes the annotation
--     name_pattern  regular expression (RE2) of its name; a group, if there is one, is the number
--                   of the step
--     example       a name that it matches
--
-- ProfilerStep#N of PyTorch comes before all of them. It is not in the list.
CREATE OR REPLACE MACRO step_rules() AS TABLE
SELECT *
FROM (
    VALUES
        (
            1, 'xDiT', '^execute_diffusion_\d+',
            'execute_diffusion_1_256x256'
        ),
        (
            2, 'vLLM', '^execute_(\d+_)?(new|context|generation)_\d',
            'execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)'
        ),
        (
            3, 'SGLang', '^step\[[A-Z][A-Z0-9_]*[ \]]',
            'step[DECODE bs=32]'
        ),
        (
            4, 'ATOM', '^(eager_)?(prefill|decode|mixed)\[bs=',
            'decode[bs=117/128 tok=117 d=117]'
        ),
        (
            5, 'TensorRT-LLM', '^\[Executor\] _forward_step (\d+)',
            '[Executor] _forward_step 12: 0 ctx reqs, 8 gen reqs'
        ),
        (
            6, 'Lightning', '^\[pl\]\[profile\]run_training_batch$',
            '[pl][profile]run_training_batch'
        ),
        (
            7, 'Lightning', '^\[pl\]\[profile\]\[Strategy\]\w+\.(validation|test|predict)_step$',
            '[pl][profile][Strategy]SingleDeviceStrategy.validation_step'
        ),
        (
            8, 'TorchTNT', '^\w+\.(train|eval|predict)_step$',
            'MyUnit.train_step'
        )
) AS rules (position, framework, name_pattern, example);
