"""What `init` makes in Spanner."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.api_core.exceptions import InvalidArgument

from app.dedup.record import Status
from app.dedup.store import Query, Run, Store, StoreError, Terms
from app.dedup.stores import open_store
from app.dedup.stores.spanner_session import store_errors
from tests.support.emulator import Emulator
from tests.support.steps import T, claimed


@pytest.mark.usefixtures("spanner_harness")
class TestInit:
    """R40: what is missing is made, named, and made once."""

    @pytest.mark.parametrize(
        ("database", "table"),
        [
            ("test-project/test-instance/one", "scheduler_runs"),
            ("test-project/test-instance/two", "Order"),
            ("example.com:test-project/other-instance/three", "a" * 120),
        ],
    )
    def test_makes_all_that_a_run_needs(
        self, run: Run, terms: Terms, database: str, table: str
    ) -> None:
        store = open_store(f"spanner://{database}?table={table}")
        # Instances are made by it in the emulator only, and are not its business elsewhere.
        with pytest.raises(StoreError, match=r"(app.records init.*|: 404 Instance) not found"):
            store.claim(run, "one", terms, timeout=T)
        made = store.init(timeout=T)
        name = database.rpartition("/")[2]
        assert made[-3].endswith(f"/databases/{name}")
        assert made[-2:] == [f"table {table}", f"table {table}_version"]
        assert store.init(timeout=T) == []
        claim = claimed(store, run, "one", terms).claim
        assert store.finish(claim, Status.COMPLETED, '{"a":1}', timeout=T) is None
        assert [record.result for record in store.list(Query(), timeout=T)] == [{"a": 1}]
        store.close()

    def test_makes_the_instance_of_the_emulator(self) -> None:
        made = open_store("spanner://test-project/new-instance/new").init(timeout=T)
        assert made[0] == "instance projects/test-project/instances/new-instance"

    def test_adds_a_table_to_a_database_that_is_there(self, run: Run, terms: Terms) -> None:
        store = open_store("spanner://test-project/test-instance/test-database?table=second")
        with pytest.raises(StoreError, match=r"app.records init.* not found"):
            store.get(run.run_id, timeout=T)
        assert store.init(timeout=T) == ["table second", "table second_version"]
        claimed(store, run, "one", terms)
        store.close()

    @pytest.mark.parametrize("place", ["test-instance/shared", "shared-instance/shared"])
    def test_by_two_people_at_once_makes_it_once(self, place: str, run: Run, terms: Terms) -> None:
        start = threading.Barrier(3)
        stores = [open_store(f"spanner://test-project/{place}") for _ in range(3)]

        def init(store: Store) -> list[str]:
            start.wait()
            return store.init(timeout=T)

        with ThreadPoolExecutor(3) as pool:
            made = [line for lines in pool.map(init, stores) for line in lines]
        assert len([line for line in made if line.startswith("database ")]) == 1
        claimed(stores[0], run, "one", terms)

    def test_is_no_remedy_for_what_else_is_not_found(self) -> None:
        """A column, for example, which `init` does not add."""
        with pytest.raises(StoreError, match="refused: ") as caught, store_errors():
            raise InvalidArgument("Column not found in table scheduler_runs: attempt_id")  # type: ignore[no-untyped-call]
        assert "init" not in str(caught.value)

    def test_without_an_answer_ends_in_time(self, spanner_process: Emulator) -> None:
        """R26."""
        store = open_store("spanner://test-project/test-instance/test-database")
        with spanner_process.hanging():
            began = time.monotonic()
            with pytest.raises(StoreError, match="Deadline"):
                store.init(timeout=1.0)
            took = time.monotonic() - began
        assert took < 3.0
