# shellcheck shell=bash
# A connector of Serverless VPC Access, over which the service reaches the network.

CONNECTOR=${CONNECTOR:-$(fitted vpc 25)}
CONNECTOR_RANGE=${CONNECTOR_RANGE:-10.8.0.0/28} # Addresses that nobody else has: a /28.

need_apis compute vpcaccess

network_setup() {
  if exists gcloud compute networks vpc-access connectors describe "$CONNECTOR" \
    "--region=$REGION"; then
    say "- the connector $CONNECTOR is there"
  else
    step "create the connector $CONNECTOR to the network $NETWORK" \
      "You need roles/vpcaccess.admin. Is $CONNECTOR_RANGE in use? CONNECTOR_RANGE says another." \
      gcloud compute networks vpc-access connectors create "$CONNECTOR" "--region=$REGION" \
      "--network=$NETWORK" "--range=$CONNECTOR_RANGE" --min-instances=2 --max-instances=3
  fi
}

network_deploy() {
  app+=("vpc_access_connector=projects/$GOOGLE_CLOUD_PROJECT/locations/$REGION/connectors/$CONNECTOR")
}
