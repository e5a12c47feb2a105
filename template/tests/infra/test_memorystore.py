"""The service reaches the Redis instance, and trusts its certificate."""

import re

from app.dedup.stores.redis.address import Address
from tests.support.infra import blocks, plain


def test_the_service_can_read_its_address() -> None:
    values = blocks("store_memorystore.tf", "locals")
    parts = re.findall(r'"([^"]+)"', values["store_url"].split("[", 1)[1])
    made_up = {"auth_string": "secret", "host": "10.0.0.3", "port": "6378"}
    url = re.sub(
        r"\$\{google_redis_instance\.runs\.(\w+)\}", lambda found: made_up[found[1]], "".join(parts)
    ).replace("${local.store_ca_file}", plain(values["store_ca_file"]))
    address = Address.parse(url)
    assert address.tls
    assert (address.host, address.port, address.password) == ("10.0.0.3", 6378, "secret")
    assert address.ca_certs == plain(values["store_ca_file"])


def test_a_full_instance_refuses_instead_of_forgetting() -> None:
    """R29: eviction would let a run be done twice."""
    instance = blocks("store_memorystore.tf", "google_redis_instance")["runs"]
    assert plain(instance["redis_configs"]["maxmemory-policy"]) == "noeviction"
    assert instance["auth_enabled"] is True
