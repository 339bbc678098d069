"""Folders of ingests under way: whoever clears up takes none that is in use."""

import contextlib
import fcntl

import pytest

from hta_sql.store.staging import clear_abandoned, in_use, staging_of


@pytest.fixture
def interrupted(monkeypatch):
    """Does something between the opening of a lock file and its locking, once."""
    flock = fcntl.flock

    def interrupt(action) -> None:
        def other_first(*given) -> None:
            monkeypatch.setattr(fcntl, "flock", flock)
            action()
            flock(*given)

        monkeypatch.setattr(fcntl, "flock", other_first)

    return interrupt


def test_cleared_up_before_the_owner_has_its_lock(tmp_path, interrupted):
    interrupted(lambda: clear_abandoned(tmp_path))
    with in_use(staging := staging_of(tmp_path)):
        (staging / "file").touch()
        clear_abandoned(tmp_path)
        assert (staging / "file").exists()
    assert list(staging.parent.iterdir()) == []


def test_cleared_up_by_two_while_the_owner_begins(tmp_path, interrupted):
    """One has opened the lock file that the other deletes; by then the owner has a new one."""
    staging = staging_of(tmp_path)
    staging.parent.mkdir()
    lock_file = staging.with_suffix(".lock")
    lock_file.touch()
    with contextlib.ExitStack() as owner:

        def begin() -> None:
            lock_file.unlink()
            owner.enter_context(in_use(staging))

        interrupted(begin)
        clear_abandoned(tmp_path)
        assert staging.exists() and lock_file.exists()


def test_what_was_left_goes(tmp_path):
    staging = staging_of(tmp_path)
    staging.mkdir(parents=True)
    staging.with_suffix(".lock").touch()
    clear_abandoned(tmp_path)
    assert list(staging.parent.iterdir()) == []
