# The retries follow from schedule, deadline and lease, so that a crash loses no run (R31).
RETRIES := infra/retries.auto.tfvars.json
.PHONY: $(RETRIES)

setup deploy: $(RETRIES)
$(RETRIES): $(READY)
	@retries=$$($(PYTHON) -m dev.budget --json) && printf '{"retries": %s}\n' "$$retries" > $@
