"""The template's answers, as the defaults of the settings.

A variable of the environment with the same name goes before each of them: in the service, and in
the local Cloud Scheduler for JOB_ID, SCHEDULE and TIME_ZONE. To change one for good, run
`copier update -d NAME=VALUE`.
"""

from typing import Final

SERVICE: Final[str] = "nightly-report"
"""Name of the service; part of every run's key (R08)."""

KIND: Final[str] = "handler"
"""What the service is: a module of `app/kinds`."""

JOB_ID: Final[str] = SERVICE
"""Id of the Cloud Scheduler job."""

GCP_PROJECT: Final[str] = "my-project"
"""Google Cloud project, to link log lines to their trace (GOOGLE_CLOUD_PROJECT goes before it)."""

SCHEDULE: Final[str] = "*/15 * * * *"
"""When the job runs: five unix-cron fields (R30)."""

TIME_ZONE: Final[str] = "Etc/UTC"
"""Time zone of the schedule: a name of the tz database."""

ATTEMPT_DEADLINE_SECONDS: Final[int] = 180
"""How long one attempt may take before Cloud Scheduler gives up on it (R32)."""

LEASE_SECONDS: Final[int] = 60
"""After how long without a renewal an attempt is taken for dead (R16, R18)."""

RETENTION_SECONDS: Final[int] = 48 * 3600
"""How long a run's record is kept (R29)."""

AUTH: Final[str] = "iam"
"""Who checks the caller (R33)."""

JOB_SCOPE: Final[str] = "none"
"""Where a job tells its project and region (R05): `none`, `header`, `query` or `path`."""

FORCED_RUNS: Final[str] = "separate"
"""Whether a forced run is a run of its own (R06): `separate` or `shared`."""
