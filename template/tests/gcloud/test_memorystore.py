"""The service reaches the Redis instance, and nobody else learns how."""

from app.dedup.stores.redis.address import Address
from app.settings import Settings
from tests.gcloud.conftest import Deploy

PASSWORD = "a-password"  # pragma: allowlist secret


def test_the_service_trusts_the_certificates_that_it_gets(deployed: Deploy) -> None:
    done = deployed(store="memorystore")
    address = Address.parse(Settings.from_environ(done.environment).run_store_url)
    assert address.tls
    assert (address.host, address.port) == ("10.0.0.3", 6378)
    assert address.password == PASSWORD
    assert address.ca_certs in done.service.secrets


def test_the_password_is_in_a_secret_alone(deployed: Deploy) -> None:
    done = deployed(store="memorystore")
    assert "RUN_STORE_URL" in done.service.secrets
    assert not [call for call in done.calls if PASSWORD in str(call.flags) + call.words]


def test_a_full_instance_refuses_instead_of_forgetting(deployed: Deploy) -> None:
    """R29: eviction would let a run be done twice."""
    created = deployed(store="memorystore").flags("redis instances create")
    assert created["--redis-config"] == "maxmemory-policy=noeviction"
    assert "--enable-auth" in created


def test_the_service_has_a_way_to_its_network(deployed: Deploy) -> None:
    done = deployed(store="memorystore")
    assert done.service.network == done.flags("redis instances create")["--network"]
