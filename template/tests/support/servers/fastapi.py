"""FastAPI behind uvicorn."""

from typing import Final

from tests.support.servers import Framework

FRAMEWORK: Final = Framework(
    name="fastapi",
    command=(
        "uvicorn main:app --host 0.0.0.0 --port $PORT --no-access-log --timeout-graceful-shutdown 8"
    ),
    entry="app",
    environ={"WEB_CONCURRENCY": "1"},
)
