"""The two sides."""

from click.testing import CliRunner

from hta_sql.cli import cli


def run(*arguments: object, status: int = 0):
    done = CliRunner().invoke(cli, ["diff", *map(str, arguments)])
    assert done.exit_code == status, (done.output, done.exception)
    assert "Traceback" not in done.output
    return done
