# The commands of the deployment by Terraform.
RETRIES := infra/retries.auto.tfvars.json
.PHONY: check-infra retries $(RETRIES)

check: check-infra
check-infra: $(READY)
	cd infra && ../.venv/bin/shellcheck --external-sources *.sh
	@if command -v terraform >/dev/null; then terraform fmt -check -diff infra; \
	else echo "infra/ was not checked: terraform is not installed"; fi

retries: $(RETRIES)

# The retries follow from schedule, deadline and lease, so that a crash loses no run (R31).
$(RETRIES): $(READY)
	@retries=$$($(PYTHON) -m dev.budget --json) && printf '{"retries": %s}\n' "$$retries" > $@
