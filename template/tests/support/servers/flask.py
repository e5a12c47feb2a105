"""Flask behind gunicorn, with the project's own configuration of it."""

from typing import Final

from tests.support.servers import Framework

FRAMEWORK: Final = Framework(
    name="flask",
    command="gunicorn main:app",
    entry="app",
    files=("gunicorn.conf.py",),
    environ={"GUNICORN_CMD_ARGS": ""},
)
