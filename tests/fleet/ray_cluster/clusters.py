"""What is done on a cluster."""

import subprocess
import sys
from pathlib import Path

import engine_work

TESTS = Path(engine_work.__file__).parent


# Of ingest itself, not of the trace.
OWN_COLUMNS = ["trace_id", "file_id", "ingested_at"]


# The command line

HTA = [sys.executable, "-c", "from hta_sql.cli import main; main()"]


def hta(*words) -> subprocess.CompletedProcess:
    return subprocess.run([*HTA, *map(str, words)], capture_output=True, text=True, timeout=300)
