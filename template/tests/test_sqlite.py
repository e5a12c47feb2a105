"""What only SQLite has: a file, which a person can move, delete and lock."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.dedup.store import Closed, Held, Run, StoreError, Terms
from app.dedup.stores import open_store
from tests.support.faults import Kind
from tests.support.steps import T, claimed, finished
from tests.support.stores.sqlite import SqliteHarness


def test_file_stays_the_same_when_the_job_changes_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, terms: Terms
) -> None:
    """R11: a relative path means the folder in which the service was started."""
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///.local/runs.db")
    answer = claimed(store, run, "one", terms)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    finished(store, answer)
    assert isinstance(store.claim(run, "two", terms, timeout=T), Closed)
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("loss", ["deleted", "emptied"])
def test_records_that_vanish_are_an_error_and_no_new_beginning(
    tmp_path: Path, run: Run, terms: Terms, loss: str
) -> None:
    """R25: completed runs are not run again because their file is gone."""
    path = tmp_path / "runs.db"
    store = open_store(f"sqlite:///{path}")
    finished(store, claimed(store, run, "one", terms))
    for name in ("runs.db-wal", "runs.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    if loss == "deleted":
        path.unlink()
    else:
        path.write_bytes(b"")
    with pytest.raises(StoreError, match=r"runs\.db"):
        store.claim(run, "two", terms, timeout=T)


def test_text_that_is_no_utf_8_does_not_hide_a_completed_run(
    tmp_path: Path, run: Run, terms: Terms
) -> None:
    """R17."""
    path = tmp_path / "runs.db"
    store = open_store(f"sqlite:///{path}")
    finished(store, claimed(store, run, "one", terms))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE scheduler_runs SET job_name = CAST(x'ff41' AS TEXT)")
    assert isinstance(store.claim(run, "two", terms, timeout=T), Closed)


def test_lock_of_somebody_else_is_waited_for_and_given_up_in_time(
    tmp_path: Path, run: Run, terms: Terms
) -> None:
    """R25, R26."""
    path = tmp_path / "runs.db"
    store = open_store(f"sqlite:///{path}")
    claimed(store, run, "one", terms)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            store.claim(run, "two", terms, timeout=0.2)
        db.execute("ROLLBACK")
    assert isinstance(store.claim(run, "two", terms, timeout=T), Held)


def test_edit_by_hand_is_a_write_like_any_other(tmp_path: Path, run: Run, terms: Terms) -> None:
    """R26: it changes the version and the time of the last write."""
    path = tmp_path / "runs.db"
    store = open_store(f"sqlite:///{path}")
    claimed(store, run, "one", terms)
    before = store.get(run.run_id, timeout=T)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE scheduler_runs SET job_name = 'renamed'")
        db.execute("INSERT INTO scheduler_runs (run_id, status) VALUES ('by hand', 'in_progress')")
    after, added = store.get(run.run_id, timeout=T), store.get("by hand", timeout=T)
    assert before is not None
    assert after is not None
    assert added is not None
    assert before.stamp.version != after.stamp.version
    assert added.stamp.at is not None


@pytest.mark.parametrize(
    "url", ["sqlite:", "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://host/a.db",
            "sqlite:///a.db?mode=ro", "sqlite:///a.db#x", "sqlite:///%00.db"],
)  # fmt: skip
def test_malformed_url_is_refused(url: str) -> None:
    """R41."""
    with pytest.raises(ValueError, match=r"expected sqlite:///PATH|no NUL"):
        open_store(url)


def test_end_of_a_run_that_the_disk_refuses_is_written_when_it_takes_it(
    sqlite_harness: SqliteHarness, run: Run, terms: Terms
) -> None:
    """R25: the work is done."""
    full = "CREATE TRIGGER full BEFORE UPDATE ON scheduler_runs BEGIN SELECT RAISE(ABORT, 'x'); END"
    store = sqlite_harness.open()
    answer = claimed(store, run, "one", terms)
    sqlite_harness.faults.plan = [
        lambda: execute(sqlite_harness.path, full),
        Kind.NONE,
        lambda: execute(sqlite_harness.path, "DROP TRIGGER full"),
    ]
    finished(store, answer)
    assert isinstance(store.claim(run, "two", terms, timeout=T), Closed)


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)
