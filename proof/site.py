"""The service under proof: real instances on simulated machines, and one simulated store."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cache
from typing import Final

from app.auth import open_authenticator
from app.dedup.attempt import Attempt, ClaimLost, GiveUp, JobResult, OutcomeUnknown, Stopping
from app.dedup.clock import Clock
from app.dedup.delivery import Headers, JobScope, Trigger, read_delivery
from app.dedup.store import Store
from app.dedup.threads import Threads
from app.kinds import Kind
from app.service import Request, Service
from app.settings import Settings

from proof.errand import End, Errand
from proof.network import Network
from proof.oracle import Oracle
from proof.record_store import RecordServer, RecordStore
from proof.redis_store import RedisServer, open_redis
from proof.world import START, Machine, World, present

SERVICE: Final = "nightly-report"
JOB: Final = "nightly"

_ANYONE: Final = open_authenticator("off", audience="", service_account="")


class StoreKind(StrEnum):
    """Which store's ways the simulated one has."""

    FIRESTORE = "firestore"
    SPANNER = "spanner"
    REDIS = "redis"


@dataclass(frozen=True, slots=True)
class Setup:
    """How the service is set up; times are in seconds.

    Attributes:
        store: What keeps the records.
        lease: `LEASE_SECONDS`.
        settle: What a proxy adds to it (R22).
        timeout: `REQUEST_TIMEOUT_SECONDS`, which is the attempt deadline.
        separate: `FORCED_RUNS` is `separate`.
    """

    store: StoreKind
    lease: float
    settle: float
    timeout: float
    separate: bool

    @property
    def whole_lease(self) -> float:
        """For how long the run of a dead attempt is left alone."""
        return self.lease + self.settle


class Site:
    """All instances, and their store."""

    def __init__(self, world: World, setup: Setup, network: Network) -> None:
        self.world = world
        self.setup = setup
        self.machines: list[Machine] = []
        self.oracle = Oracle(
            world, lease=setup.whole_lease, separate=setup.separate, timeout=setup.timeout
        )
        self._services: dict[Machine, Service] = {}
        self._open = _opener(world, setup.store, network, self.oracle)

    def add(self, skew: float = 0.0) -> Machine:
        """Start an instance on a machine of its own, whose wall clock is wrong by `skew`."""
        machine = Machine(self.world, f"instance {chr(65 + len(self.machines))}", skew)
        clock = Clock(machine.now, machine.monotonic, machine.sleep)
        self.machines.append(machine)
        self._services[machine] = Service(
            _settings(self.setup),
            self._open(machine, clock),
            _ANYONE,
            Kind(read_delivery, self._run, settle=self.setup.settle),
            machine.shutdown,
            clock,
            Threads(machine.beside, machine.event),
            self._new_id,
        )
        return machine

    def deliver(self, errand: Errand, answered: Callable[[], object]) -> None:
        """Let a delivery reach its instance now; `answered` is called when that has answered."""
        errand.began = self.world.now

        def handle() -> None:
            machine = errand.machine
            errand.received = machine.monotonic()
            request = Request("POST", "/", {}, _headers(errand.due), b"", errand.received)
            response = self._services[machine].handle(request)
            if self.world.tell:
                outcome = json.loads(response.body)["outcome"]
                self.tell(errand, f"answers {response.status} {outcome}")
            self.oracle.answered(errand, response)
            answered()

        self.tell(errand, f"gets the delivery of the run that is due at {errand.due:g} s")
        errand.machine.start("request", handle, errand)

    def close(self) -> None:
        """End whatever is still at work."""
        self.world.tell = None
        for machine in self.machines:
            machine.die()

    def tell(self, errand: Errand, what: str) -> None:
        """Add to the story, unless it is about one whose machine has died."""
        if self.world.tell and errand.machine.alive:
            self.world.tell(self.world.now, f"{errand.machine.name} {errand.name}", what)

    def _run(self, attempt: Attempt) -> JobResult:
        """Do what the errand's plan says, as the owner's job."""
        errand = present().errand
        self.oracle.started(errand, attempt)
        self.tell(errand, "starts its job" + (", recovered" if attempt.recovered else ""))
        plan = errand.plan
        try:
            for seconds in plan.sleeps:
                errand.machine.sleep(seconds)
                if plan.obeys:
                    attempt.check()
            _end(plan.end)
        except ClaimLost:
            errand.end = End.CLAIM_LOST
            raise
        except Stopping:
            errand.end = End.STOPPING
            raise
        except (Exception, SystemExit):
            errand.end = plan.end
            raise
        else:
            errand.end = plan.end
            return {"by": errand.name}
        finally:
            if self.world.now >= errand.received + self.setup.timeout:
                errand.disturbed = True
            self.tell(errand, f"ends its job: {errand.end}")

    def _new_id(self) -> str:
        errand = present().errand
        errand.attempt_id = f"attempt {errand.name}"
        return errand.attempt_id


def _opener(
    world: World, kind: StoreKind, network: Network, oracle: Oracle
) -> Callable[[Machine, Clock], Store]:
    """Return what gives an instance its side of the one store."""
    if kind is StoreKind.REDIS:
        redis = RedisServer(world, oracle)
        return lambda machine, clock: open_redis(clock, machine, network, redis, oracle)
    server = RecordServer(world, oracle, idle_writes=kind is StoreKind.FIRESTORE)
    return lambda machine, clock: RecordStore(clock, machine, network, server, oracle)


@cache
def run_id_of(due: float, trigger: Trigger = Trigger.SCHEDULED) -> str:
    """Return the key of the run that is due so many seconds after the start."""
    delivery = read_delivery(_headers(due), "/", {}, JobScope.NONE)
    return delivery.run_id(SERVICE, trigger)


@cache
def _headers(due: float) -> Headers:
    moment = START + timedelta(seconds=due)
    return {
        "x-cloudscheduler-jobname": (JOB,),
        "x-cloudscheduler-scheduletime": (moment.isoformat(),),
    }


def _end(end: End) -> None:
    match end:
        case End.RETURNS:
            return
        case End.GIVES_UP:
            raise GiveUp("as planned")
        case End.UNKNOWN:
            raise OutcomeUnknown("as planned")
        case End.EXITS:
            raise SystemExit(1)
        case _:
            raise ValueError("as planned")


@cache
def _settings(setup: Setup) -> Settings:
    return Settings(
        service=SERVICE,
        run_store_url="",
        job_scope=JobScope.NONE,
        separate_forced_runs=setup.separate,
        lease=setup.lease,
        retention=172_800.0,
        request_timeout=setup.timeout,
        auth="off",
        auth_audience="",
        auth_service_account="",
        log_level="CRITICAL",
        gcp_project="my-project",
    )
