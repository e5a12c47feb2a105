# How a service of App Engine is set up and deployed.
.PHONY: setup deploy

setup: ## Create or change what the service needs; ARGS go to terraform apply
	infra/app_setup.sh $(ARGS)

deploy: $(REQUIREMENTS) ## Build and deploy the service and its job; ARGS go to terraform apply
	PYTHON=$(PYTHON) infra/app_deploy.sh $(ARGS)
