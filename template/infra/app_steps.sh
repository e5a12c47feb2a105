# shellcheck shell=bash
# What setting up and deploying on App Engine have in common. Run in infra/.

project=$(sed -n 's/^project *= "\(.*\)"$/\1/p' answers.auto.tfvars)

# The app can be made only once, and its place never changed: a person decides that.
read_app() {
  local said
  if ! said=$(gcloud app describe --project="$project" --quiet \
    --format='json(locationId,defaultHostname,codeBucket)' 2>&1); then
    printf '%s\n' "$said" >&2
    stop "gcloud cannot describe the App Engine app of $project." "If there is none, make it, in\
 the region of the service, for good: gcloud app create --project=$project --region=REGION"
  fi
  printf '{"app": %s}\n' "$said" >app.auto.tfvars.json
}

# Whether the state says that the service is there.
was_deployed() {
  if has_output deployed; then terraform output -raw deployed; else echo false; fi
}

# apply_around ARGUMENT...: bring up to date what is around the service, with these arguments to
# `terraform apply`. `deployed` then says whether the service was there.
apply_around() {
  need terraform
  need gcloud
  initialize
  read_app
  deployed=$(was_deployed)
  terraform apply -var "deployed=$deployed" "$@"
}
