"""Which fault can call an HTTP endpoint twice, and when that does its work twice (R36)."""

import pytest

from dev.standin import Trouble
from dev.targets.http import Endpoint
from tests.targets.proxied import Proxied

only_http = pytest.mark.parametrize("proxied", ["http"], indirect=True)


@only_http
@pytest.mark.parametrize("heeds_keys", [True, False])
def test_a_lost_answer_does_the_work_again_only_where_the_key_is_not_heeded(
    proxied: Proxied, heeds_keys: bool
) -> None:
    endpoint = proxied.stand_in.api
    assert isinstance(endpoint, Endpoint)
    endpoint.heeds_keys = heeds_keys
    proxied.stand_in.plan.append(Trouble.LOST_ANSWER)
    proxied.deliver()
    answer = proxied.deliver_until_done()
    assert answer.outcome == (200, "processed")
    assert proxied.starts(answer) == (1 if heeds_keys else 2)
