"""Coverage-guided fuzzing of the splitters: `make fuzz`, FUZZ_SECONDS=60.

A crash is written to the folder given first, beside the inputs that reach new code.
"""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["hta_sql.ingestion"]):
    from fuzz.corpus import CORPUS
    from fuzz.splitter import check

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data, _ in CORPUS:
        (folder / name.replace(" ", "-")).write_bytes(data)
    limits = [f"-max_total_time={sys.argv[2]}", "-timeout=10", "-max_len=4096"]
    atheris.Setup([sys.argv[0], str(folder), f"-artifact_prefix={folder}/", *limits], check)
    atheris.Fuzz()
