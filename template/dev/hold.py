"""Holding an attempt between its claim and its finish, from outside the server."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

_PAUSE_SECONDS = 0.00005


class StoreHold:
    """Takes the write lock of the SQLite file right after the server's next commit.

    From then on the job can do its work, but nothing more can be written: a finish waits. So no
    failure point has to exist in the server. Armed before a delivery, the next commit is its claim.
    """

    def __init__(self, store: Path) -> None:
        """Arm the hold on the file `store`."""
        self.taken = Event()
        self._release = Event()
        armed = Event()
        self._thread = Thread(target=self._work, args=(store, armed.set), daemon=True)
        self._thread.start()
        armed.wait()

    def release(self) -> None:
        """Let the server write again, or disarm the hold if there was no commit."""
        self._release.set()
        self._thread.join()

    def _work(self, store: Path, armed: Callable[[], None]) -> None:
        # No `with`: that would commit, not close.
        connection = sqlite3.connect(store, isolation_level=None, timeout=0)
        try:
            tables, version = _state(connection) or (0, 0)
            armed()
            while not self._release.is_set():
                state = _state(connection)
                if state is None or state == (tables, version):
                    # Long enough to let other threads and the server's commit in.
                    time.sleep(_PAUSE_SECONDS)
                    continue
                # A commit that made the tables is no claim.
                if tables and _lock(connection):
                    self.taken.set()
                    self._release.wait()
                    connection.execute("ROLLBACK")
                    return
                if not tables:
                    tables, version = state
        finally:
            armed()
            connection.close()


def _state(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the number of tables and a number that every commit changes; `None` if busy."""
    try:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        return None
    return int(tables), int(version)


def _lock(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True
