# shellcheck shell=bash
# A service of the project's App Engine app, built by Google Cloud's buildpacks. Its size and its
# number of instances are in app.yaml.

need_apis appengine

# How the service reaches a private network, and where files come to that are secrets.
NETWORK_BY=connector
SECRETS_FOLDER=/tmp

# Two of App Engine's places have shorter names than the regions that they are.
case $REGION in
  us-central1 | europe-west1) LOCATION=${REGION%1} ;;
  *) LOCATION=$REGION ;;
esac

# app_says FIELD: what the project's app says of itself.
app_says() {
  gcloud app describe "--format=value($1)" ||
    stop "could not read the App Engine app." "You need roles/appengine.appViewer."
}

platform_setup() {
  local place bucket
  if exists gcloud app describe; then
    say "- the App Engine app is there"
  else
    step "create the App Engine app in $LOCATION. This is for good: a project has one app, and\
 neither it nor its place can be changed" \
      "You need roles/appengine.appCreator. Is App Engine in $REGION? gcloud app regions list" \
      gcloud app create "--region=$LOCATION"
  fi
  place=$(app_says locationId)
  if [[ $place != "$LOCATION" ]]; then
    stop "the App Engine app is in $place, for good, and this project in $REGION." \
      "Choose the app's region (copier update -d region=REGION), or another Google Cloud project."
  fi
  # App Engine builds as the account that the service runs as.
  grant "$RUNNER" roles/artifactregistry.createOnPushWriter \
    gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" --condition=None
  grant "$RUNNER" roles/logging.logWriter \
    gcloud projects add-iam-policy-binding "$GOOGLE_CLOUD_PROJECT" --condition=None
  bucket=$(app_says codeBucket)
  grant "$RUNNER" roles/storage.objectViewer \
    gcloud storage buckets add-iam-policy-binding "gs://$bucket" --condition=None
}

platform_deploy() {
  if [[ ! -f requirements.txt ]]; then
    stop "there is no requirements.txt, which says what to install." "Make it: make deploy"
  fi
  if [[ $SERVICE != default ]] && ! exists gcloud app services describe default; then
    stop "the App Engine app has no service named default, and the first one has to be that." \
      "Deploy any service under this name, for example an empty page (see the README)."
  fi
  app_url
  service_environment
  # What app.yaml says goes on, with these changes.
  app=("service=$SERVICE" "service_account=$(address "$RUNNER")")
  store_deploy
  if ((${#secrets[@]})); then environment+=("SECRETS=$(join , "${secrets[@]/=/=projects/$GOOGLE_CLOUD_PROJECT/secrets/}")"); fi
  trap 'rm -f .app.yaml' EXIT
  printf '%s\n' "${app[@]}" "${environment[@]}" | "$PYTHON" -m dev.app_yaml >.app.yaml ||
    stop "could not read app.yaml." "What is above says why."
  step "build and deploy the service $SERVICE, which takes some minutes" \
    "You need roles/appengine.deployer, roles/appengine.serviceAdmin, roles/storage.objectAdmin,\
 roles/cloudbuild.builds.editor, and roles/iam.serviceAccountUser on $(address "$RUNNER"). Is\
 everything set up? make setup" \
    gcloud app deploy .app.yaml
}

# The address of a service is a part of the app's, which Google chose when it made the app.
app_url() {
  local host name
  host=$(app_says defaultHostname)
  URL=https://$host
  if [[ $SERVICE == default ]]; then return; fi
  name=$SERVICE-dot-${host%%.*}
  URL=https://$SERVICE-dot-$host
  if [[ $JOB_TYPE == http ]] && ((${#name} > 63)); then
    stop "$name has more than the 63 characters that a name on the internet may have." \
      "Choose a shorter service (copier update -d service=NAME)."
  fi
}
