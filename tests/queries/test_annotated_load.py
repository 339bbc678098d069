"""What annotated_load reads in the names of steps."""

import pytest

SUMS = ("sequences", "query_tokens", "key_tokens", "square_tokens", "pair_tokens")
N = None


@pytest.mark.parametrize(
    ("name", "phase", "batch_size", "token_count", "prefill", "decode"),
    [
        (
            "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
            "decode", 32, 32, (0, 0, 0, 0, 0), (32, 32, 55086, 32, 55086),
        ),
        (
            "execute_15360_context_15(sq15360sk15360sqsq15728640sqsk15728640)"
            "_generation_0(sq0sk0sqsq0sqsk0)",
            "prefill", 15, 15360, (15, 15360, 15360, 15728640, 15728640), (0, 0, 0, 0, 0),
        ),
        (  # queries of 5 in 8 keys; decodes of 1 in 12 and 1 in 20
            "execute_7_context_1(sq5sk8sqsq25sqsk40)_generation_2(sq2sk32sqsq2sqsk32)",
            "mixed", 3, 7, (1, 5, 8, 25, 40), (2, 2, 32, 2, 32),
        ),
        (
            "execute_context_2(6144)_generation_3(3)",
            "mixed", 5, 6147, (2, 6144, N, N, N), (3, 3, N, N, N),
        ),
        (
            "execute_context_1(888_788544)_generation_0(0)",
            "prefill", 1, 888, (1, 888, N, N, N), (0, 0, N, N, N),
        ),
        ("execute_new_0_cached_30", "decode", 30, N, (0, N, N, N, N), (N, N, N, N, N)),
        ("execute_new_2_cached_0", "prefill", 2, N, (2, N, N, N, N), (N, N, N, N, N)),
        ("execute_new_2_cached_9", "mixed", 11, N, (2, N, N, N, N), (N, N, N, N, N)),
        ("step[DECODE bs=32]", "decode", 32, 32, (0, 0, 0, 0, 0), (32, 32, N, N, N)),
        (
            "step[DECODE bs=2 g_sqsq=2 g_sqsk=30 g_sk=30]",
            "decode", 2, 2, (0, 0, 0, 0, 0), (2, 2, 30, 2, 30),
        ),
        ("step[TARGET_VERIFY bs=4]", "decode", 4, N, (0, 0, 0, 0, 0), (4, N, N, N, N)),
        (
            "step[EXTEND bs=15 toks=15360]",
            "prefill", 15, 15360, (15, 15360, N, N, N), (0, 0, 0, 0, 0),
        ),
        (
            "step[EXTEND bs=2 toks=12 c_sq=12 c_sqsq=80 c_sqsk=120 c_sk=20]",
            "prefill", 2, 12, (2, 12, 20, 80, 120), (0, 0, 0, 0, 0),
        ),
        (
            "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 "
            "g_sq=1 g_sk=12 g_sqsq=1 g_sqsk=12]",
            "mixed", 2, 6, (1, 5, 8, 25, 40), (1, 1, 12, 1, 12),
        ),
        ("step[MIXED bs=2]", "mixed", 2, N, (N, N, N, N, N), (N, N, N, N, N)),
        ("mixed[bs=2 tok=9]", "mixed", 2, N, (N, N, N, N, N), (N, N, N, N, N)),
        ("eager_prefill[bs=2 tok=9]", "prefill", 2, 9, (2, 9, N, N, N), (0, 0, 0, 0, 0)),
        ("step[IDLE bs=0]", N, 0, N, (N, N, N, N, N), (N, N, N, N, N)),
        (
            "prefill[bs=2 tok=12 ctx=[10, 10] sqsq=80 sqsk=120 sk=20]",
            "prefill", 2, 12, (2, 12, 20, 80, 120), (0, 0, 0, 0, 0),
        ),
        (
            "decode[bs=117/128 tok=117 d=117]",
            "decode", 117, 117, (0, 0, 0, 0, 0), (117, 117, N, N, N),
        ),
        (
            "decode[bs=2 tok=8 d=2 spec=3 sqsq=32 sqsk=80 sk=20]",
            "decode", 2, 8, (0, 0, 0, 0, 0), (2, 8, 20, 32, 80),
        ),
        (
            "[Executor] _forward_step 7: 2 ctx reqs, 512 ctx tokens, 30 gen reqs",
            "mixed", 32, N, (2, 512, N, N, N), (30, N, N, N, N),
        ),
        (
            "[Executor] _forward_step 7: 0 ctx reqs, 30 gen reqs",
            "decode", 30, N, (0, N, N, N, N), (30, N, N, N, N),
        ),
        ("execute_diffusion_1_256x256", "diffusion", 1, N, (N, N, N, N, N), (N, N, N, N, N)),
    ],
)  # fmt: skip
def test_names_of_steps(host, name, phase, batch_size, token_count, prefill, decode):
    wanted = {"phase": phase, "batch_size": batch_size, "token_count": token_count}
    for kind, sums in (("prefill", prefill), ("decode", decode)):
        wanted |= {f"{kind}_{word}": value for word, value in zip(SUMS, sums, strict=True)}
    assert load(host, name) == wanted


@pytest.mark.parametrize(
    "name",
    [
        "", None, "step", "step[", "step[EXTEND]", "execute_", "execute_model", "ProfilerStep#3",
        "execute_new_2_cached_", "execute_diffusion_x", "prefill", "prefill[bs=]", 
        "capture_32_FULL",
        "execute_32_context_0(sq0sk0)", "[Executor] _forward_step 7", "decode[bs=x]",
        "step[DECODE bs=99999999999999999999]",
    ],
)  # fmt: skip
def test_other_names(host, name):
    assert load(host, name) is None


def load(host, name):
    [(found,)] = host.con.execute("SELECT annotated_load($1::VARCHAR)", [name]).fetchall()
    return found
