# Whether the retries of the Cloud Scheduler job outlast a crash (R31).
.PHONY: check-budget
check: check-budget
check-budget: $(READY)
	$(PYTHON) -m dev.budget
