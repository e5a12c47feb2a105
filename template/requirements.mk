# Google's buildpacks install what requirements.txt says, so it is made from uv.lock.
REQUIREMENTS := requirements.txt
requirements.txt: $(READY)
	$(UV) export --quiet --frozen --no-dev --output-file $@
