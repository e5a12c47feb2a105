.PHONY: setup deploy check-scripts

setup: ## Create what the service needs in Google Cloud; can be run again
	deploy/setup.sh

deploy: $(READY) $(REQUIREMENTS) ## Build and deploy the service and its Cloud Scheduler job
	deploy/deploy.sh

check: check-scripts
check-scripts: $(READY)
	.venv/bin/shellcheck deploy/*.sh deploy/*/*.sh
