# shellcheck shell=bash
# The service's instances take addresses of the network.

SUBNET=${SUBNET:-default}

need_apis compute

network_setup() { :; }

network_deploy() {
  flags+=("--network=$NETWORK" "--subnet=$SUBNET" --vpc-egress=private-ranges-only)
}
