# shellcheck shell=bash
# A handler, which a Cloud Scheduler job calls.

source deploy/job.sh

kind_setup() { job_setup; }
kind_check() { job_check; }
kind_environment() { job_environment; }
kind_deploy() { job_deploy; }
