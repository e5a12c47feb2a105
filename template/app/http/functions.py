"""The Functions Framework: the application is one function."""

import os
from collections.abc import Callable
from typing import Any

import flask
import functions_framework
from flask.typing import ResponseReturnValue
from gunicorn.config import ControlSocketDisable, GracefulTimeout, PostWorkerInit

from app.http.wsgi import handle
from app.service import Service, create_service
from app.shutdown import SHUTDOWN

Function = Callable[[flask.Request], ResponseReturnValue]


def create_app(service: Service | None = None) -> Function:
    """Return the function to deploy. Its service comes from the environment by default."""
    chosen = service or create_service()
    _configure_gunicorn()

    @functions_framework.http
    def handle_scheduled_job(request: flask.Request) -> flask.Response:
        return handle(chosen)

    return handle_scheduled_job


def _configure_gunicorn() -> None:
    """Set what the framework leaves at defaults that do not fit.

    Its workers have to hear SIGTERM (R27), to be done before Cloud Run's SIGKILL after 10 s, and to
    have a thread for each request that Cloud Run sends at once, or duplicates would queue behind
    long work.
    """

    def watch(worker: Any) -> None:
        SHUTDOWN.watch()

    PostWorkerInit.default = staticmethod(watch)
    GracefulTimeout.default = 8
    ControlSocketDisable.default = True
    os.environ.setdefault("THREADS", "80")
