# How a service that is an image is set up and deployed.
.PHONY: setup deploy

setup: ## Create or change what the service needs; ARGS go to terraform apply
	infra/setup.sh $(ARGS)

deploy: $(REQUIREMENTS) ## Build an image and deploy it; IMAGE=... deploys one that is there
	IMAGE="$(IMAGE)" infra/deploy.sh $(ARGS)
