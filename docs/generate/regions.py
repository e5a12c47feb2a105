"""The marked regions of a page, and what makes the text of each."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from docs.generate import commands, deployment, environment, job, logs, outcomes, questions, records

REGIONS: Final[Mapping[str, Callable[[], str]]] = {
    "questions": questions.sections,
    "overview of questions": questions.overview,
    "service variables": environment.service,
    "surrounding variables": environment.surroundings,
    "store addresses": environment.store_addresses,
    "attempt": job.attempt,
    "exceptions": job.exceptions,
    "outcomes": outcomes.outcomes,
    "refusals": outcomes.refusals,
    "record fields": records.fields,
    "record statuses": records.statuses,
    "claim decisions": records.decisions,
    "spanner tables": records.spanner_tables,
    "events": logs.events,
    "log fields": logs.fields,
    "make of a project": commands.make_of_a_project,
    "make of the template": commands.make_of_the_template,
    "records command": commands.records,
    "records statuses": commands.records_statuses,
    "simulator command": commands.simulator,
    "budget command": commands.budget,
    "guard command": commands.guard,
    "guard statuses": commands.guard_statuses,
    "gcloud settings": deployment.gcloud_settings,
    "terraform variables": deployment.terraform_variables,
    "terraform outputs": deployment.terraform_outputs,
}

_REGION: Final = re.compile(r"(?s)(<!-- begin: ([a-z ]+) -->\n)(.*?)(<!-- end: \2 -->\n)")


class BadPageError(Exception):
    """The marks of a page are wrong. `str()` says which, and what would be right."""


def filled(page: str) -> str:
    """Return a page with every region as the sources give it now.

    Raises:
        BadPageError: a region does not begin or end, or has a name that nothing makes.
    """
    whole = [match[2] for match in _REGION.finditer(page)]
    for mark in ("begin", "end"):
        marked = re.findall(rf"<!-- {mark}: (.*?) -->", page)
        if marked != whole:
            raise BadPageError(f"the marks `{mark}` are of {marked}, whole regions are {whole}")
    return _REGION.sub(_fill, page)


def _fill(match: re.Match[str]) -> str:
    begin, name, _, end = match.groups()
    if name not in REGIONS:
        raise BadPageError(f"nothing makes a region {name!r}; there are {', '.join(REGIONS)}")
    return f"{begin}\n{REGIONS[name]().strip()}\n\n{end}"
