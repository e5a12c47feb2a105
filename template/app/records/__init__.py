"""The records of runs as people handle them: `python -m app.records --help` (R40)."""
