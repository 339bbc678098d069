"""What SQL files share is a relation that they read, and no copy; and how copies are counted."""

from copied_lines import SQL, copies, lines_of, runs

MOST_COPIES = 60
RUN = "\n".join(f"    a.column_{number} + 1 AS value_{number}," for number in range(6))


def count(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.sql").write_text(text)
    return len(copies(list(runs(lines_of(folder)))))


def test_few_lines_are_copies():
    found = list(runs(lines_of(SQL)))
    longest = sorted(map(str, found), reverse=True)[:10]
    assert len(copies(found)) <= MOST_COPIES, "\n".join(longest)


def test_a_copy_is_every_place_but_the_first(tmp_path):
    assert count(tmp_path, a=RUN) == 0
    assert count(tmp_path, b=f"SELECT 1\n{RUN}\nFROM t AS x") == 6
    assert count(tmp_path, c=RUN) == 12


def test_a_copy_may_stand_in_the_same_file(tmp_path):
    assert count(tmp_path, a=f"{RUN}\nFROM t AS x\n{RUN}\nFROM u AS x") == 6


def test_repeated_lines_are_no_copy_of_themselves(tmp_path):
    assert count(tmp_path, a="\n".join(["SELECT a.x + 1"] * 11)) == 0


def test_five_lines_are_no_run(tmp_path):
    assert count(tmp_path, a=RUN.rsplit("\n", 1)[0], b=RUN) == 0


def test_what_is_passed_over_neither_counts_nor_ends_a_run(tmp_path):
    lines = RUN.splitlines()
    spaced = "\n\n-- a comment\n),\nSELECT\n".join(f"  {line}  -- why" for line in lines)
    assert count(tmp_path, a=RUN, b=spaced) == 6


def test_signatures_are_no_copies(tmp_path):
    parameters = "\n".join(f"    only_{n} BIGINT[] := [(1)],  -- how" for n in range(8))
    macro = f"CREATE OR REPLACE MACRO name_v1(\n{parameters}\n) AS TABLE\nFROM t AS x;"
    assert count(tmp_path, a=macro, b=macro) == 0
    macro = f"CREATE OR REPLACE MACRO name_v1(a, b) AS TABLE\n{RUN}"
    assert count(tmp_path, a=macro, b=macro) == 6
