"""`python -m app.guard -- COMMAND`: run a command once per idempotency token (R37).

For the container of a Cloud Run job and for a build step, which are started again by a retry that
nobody upstream can prevent (R36).
"""
