"""Cloud Run, which is told by flags."""

from collections.abc import Sequence

from tests.support.platforms import Call, Platform, Service, secrets_in


def _read(calls: Sequence[Call]) -> Service:
    (flags,) = [call.flags for call in calls if call.words.startswith("run deploy ")]
    changes = flags["--update-env-vars"]
    separator, listed = changes[1], changes[3:]
    variables = dict(item.split("=", 1) for item in listed.split(separator))
    return Service(
        account=flags["--service-account"],
        variables=variables,
        secrets=secrets_in(flags.get("--update-secrets", "")),
        own={"K_SERVICE": variables["SERVICE"]},
        network=flags.get("--network", ""),
    )


PLATFORM = Platform(
    parts=("cloud-run", "cloud-run-functions"), command="run deploy ", files=(), read=_read
)
