"""Records: their fields, what they say, and what a claim makes of them."""

import re
import typing
from types import NoneType
from typing import Final

from app.dedup import record
from app.dedup.record import Decision, Record, Status
from app.records.states import State

from docs.generate import sources
from docs.generate.markdown import block, code, table

_TYPES: Final = {
    "str": "text",
    "float": "number, seconds",
    "bool": "truth value",
    "datetime": "time",
    "dict": "JSON text",
    "Status": "text",
}


def fields() -> str:
    """Return a table of a record's fields; its key is the first."""
    said = sources.attributes(Record)
    hints = typing.get_type_hints(Record)
    rows = [(code(name), _type(hints[name]), said[name]) for name in ("run_id", *record.FIELDS)]
    return table(("field", "type", "says"), rows)


def statuses() -> str:
    """Return a table of what a record's status can be, and of the state that commands show."""
    state_notes = sources.notes(sources.class_of("app/records/states.py", "State").body)
    of_status = {
        State.RUNNING: Status.IN_PROGRESS,
        State.STUCK: Status.IN_PROGRESS,
        State.COMPLETED: Status.COMPLETED,
        State.FAILED: Status.FAILED,
        State.UNREADABLE: None,
    }
    rows = [
        (
            code(of_status[state]) if of_status[state] else "any other, or none",
            code(state.value),
            state_notes.get(state.name, _ENDED.get(state, "")),
        )
        for state in State
    ]
    return table(("`status`", "shown as", "means"), rows)


_ENDED: Final = {
    State.COMPLETED: "The run is done (R20).",
    State.FAILED: "The job gave up, or a proxy's call was refused for good (R23).",
}


def decisions() -> str:
    """Return a table of what a claim does about the record that it finds."""
    notes = sources.notes(sources.class_of("app/dedup/record.py", "Decision").body)
    return table(
        ("a claim", "because"),
        ((_DONE[decision], notes[decision.name]) for decision in Decision),
    )


_DONE: Final = {
    Decision.OWN: "goes on",
    Decision.WAIT: "is refused: 409 `in_progress`",
    Decision.TAKE_OVER: "takes the run over",
    Decision.FINAL: "is refused: 200 `duplicate` or `gave_up`",
    Decision.REFUSE: "is refused: 500 `unavailable`",
    Decision.MISMATCH: "is refused: 422 `rejected`",
}


def spanner_tables() -> str:
    """Return the tables of the Spanner store."""
    return block(sources.read("app/dedup/stores/spanner.sql"), "sql")


def _type(hint: object) -> str:
    plain = [one for one in typing.get_args(hint) if one is not NoneType]
    found = plain[0] if plain else hint
    name = getattr(typing.get_origin(found) or found, "__name__", str(found))
    return _TYPES[re.sub(r"\W.*", "", name)]
