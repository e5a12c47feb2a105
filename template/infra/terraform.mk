# The commands of the deployment by Terraform.
.PHONY: check-infra

check: check-infra
check-infra: $(READY)
	cd infra && ../.venv/bin/shellcheck --external-sources *.sh
	@if command -v terraform >/dev/null; then terraform fmt -check -diff infra; \
	else echo "infra/ was not checked: terraform is not installed"; fi
