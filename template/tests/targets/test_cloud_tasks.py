"""Which fault can create a task twice (R36)."""

import pytest

from dev.standin import Trouble
from dev.targets.cloud_tasks import CloudTasks
from tests.targets.proxied import Proxied

only_cloud_tasks = pytest.mark.parametrize("proxied", ["cloud_tasks"], indirect=True)


@only_cloud_tasks
@pytest.mark.parametrize("forgotten", [False, True])
def test_a_lost_answer_starts_again_only_after_the_id_is_forgotten(
    proxied: Proxied, forgotten: bool
) -> None:
    """Up to 24 hours after the task was done; a retry comes much earlier."""
    api = proxied.stand_in.api
    assert isinstance(api, CloudTasks)
    proxied.stand_in.plan.append(Trouble.LOST_ANSWER)
    proxied.deliver()
    if forgotten:
        api.known.clear()
    answer = proxied.deliver_until_done()
    assert answer.outcome == (200, "processed")
    assert proxied.starts(answer) == (2 if forgotten else 1)
