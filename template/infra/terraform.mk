# The commands of the deployment by Terraform.
.PHONY: setup deploy check-infra

setup: ## Create or change what the service needs; ARGS go to terraform apply
	infra/setup.sh $(ARGS)

deploy: ## Build an image and deploy it; IMAGE=... deploys one that is there
	IMAGE="$(IMAGE)" infra/deploy.sh $(ARGS)

check: check-infra
check-infra: $(READY)
	cd infra && ../.venv/bin/shellcheck --external-sources *.sh
	@if command -v terraform >/dev/null; then terraform fmt -check -diff infra; \
	else echo "infra/ was not checked: terraform is not installed"; fi
