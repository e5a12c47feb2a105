# shellcheck shell=bash
# A handler, which a Cloud Scheduler job calls.

source deploy/job.sh

kind_setup() { job_setup; }
kind_check() { job_check; }
kind_service() { job_service; }
kind_deploy() { job_deploy; }
