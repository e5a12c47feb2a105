"""How gunicorn runs the service; read by `gunicorn main:app`."""

import os
from typing import Any

from app.shutdown import SHUTDOWN

bind = f"0.0.0.0:{os.environ.get('PORT', '8080')}"
workers = 1
worker_class = "gthread"
threads = 80  # As many requests as the platform sends to one instance.
timeout = 0  # The platform limits a request's time; a second limit would kill live attempts.
control_socket_disable = True  # It would be in the home folder, for a tool that nobody runs.
graceful_timeout = 8  # Cloud Run kills an instance 10 s after SIGTERM.


def post_worker_init(worker: Any) -> None:
    """Watch for SIGTERM in the worker, whose handlers gunicorn has set by now (R27)."""
    SHUTDOWN.watch()
