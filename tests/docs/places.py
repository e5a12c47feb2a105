"""Where the commands of a document are run, and what has happened before."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True)
class Place:
    """A project with these answers, one whose template has a newer version, or the repository.

    `before` is what has happened before a reader comes to the page.
    """

    answers: Mapping[str, Any] = field(default_factory=dict)
    repository: bool = False
    released: bool = False
    before: str = "true"


_A_RUN: Final = """\
mkdir infra
serve make serve
curl -X POST localhost:$PORT/ -H 'X-CloudScheduler-JobName: nightly-report' \\
  -H 'X-CloudScheduler-ScheduleTime: 2026-10-16T12:00:00Z'
"""

_APP: Final = """\
export THERE='app services describe default'
mkdir infra
cat >infra/main.tf <<'END'
variable "deployed" { default = true }
variable "deletion_protection" { default = true }
END
terraform -chdir=infra init && terraform -chdir=infra apply
"""

_CALLER: Final = """\
export THERE='app services describe default'
export AUTH_SERVICE_ACCOUNT=caller@my-project.iam.gserviceaccount.com
export AUTH_AUDIENCE=https://service.example
"""

_PLACES: Final = (
    (
        r"README\.md|docs/tutorial\.md|docs/how-to/(add-a-store|call-a-step|move-an-existing-job"
        r"|start-something-else|work-on-the-template)\.md",
        Place(repository=True),
    ),
    (r"docs/how-to/(keep-a-project-current|change-an-answer)\.md", Place(released=True)),
    (r"docs/how-to/(operate|run-on-cloud-run)\.md", Place(before=_A_RUN)),
    (r"docs/how-to/run-on-app-engine\.md", Place({"platform": "app-engine"}, before=_APP)),
    (r"docs/how-to/deploy-with-terraform\.md", Place({"deploy": "terraform"})),
    (r".*", Place()),
)


def place_of(document: str, answers: Mapping[str, Any] | None = None) -> Place:
    """Return where the commands of a document are run; `answers` are those of its project."""
    if answers is not None:
        project = f"export CLOUDSDK_CORE_PROJECT={answers['gcp_project']}"
        return Place(answers, before=f"{_CALLER}{project}")
    return next(place for pattern, place in _PLACES if re.fullmatch(pattern, document))
