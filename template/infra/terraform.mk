# The commands of the deployment by Terraform.
RETRIES := infra/retries.auto.tfvars.json
.PHONY: setup deploy check-infra $(RETRIES)

setup: $(RETRIES) ## Create or change what the service needs; ARGS go to terraform apply
	infra/setup.sh $(ARGS)

deploy: $(RETRIES) ## Build an image and deploy it; IMAGE=... deploys one that is there
	IMAGE="$(IMAGE)" infra/deploy.sh $(ARGS)

check: check-infra
check-infra: $(READY)
	cd infra && ../.venv/bin/shellcheck --external-sources *.sh
	@if command -v terraform >/dev/null; then terraform fmt -check -diff infra; \
	else echo "infra/ was not checked: terraform is not installed"; fi

# The retries follow from schedule, deadline and lease, so that a crash loses no run (R31).
$(RETRIES): $(READY)
	@retries=$$($(PYTHON) -m dev.budget --json) && printf '{"retries": %s}\n' "$$retries" > $@
