"""Fixtures of these tests."""

import pytest
from click.testing import CliRunner

from hta_sql.cli import cli


@pytest.fixture
def invoke(use_library):
    """Run a command that succeeds; invoke("list").stdout."""

    def invoke(*words, **options):
        result = CliRunner().invoke(cli, [str(w) for w in words], prog_name="hta-sql", **options)
        assert result.exit_code == 0, result.stderr or result.exception
        return result

    return invoke
