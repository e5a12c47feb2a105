"""Flask, served by gunicorn (see gunicorn.conf.py)."""

from flask import Flask, Response
from werkzeug.routing import Rule

from app.http.wsgi import handle
from app.service import Service, create_service


def create_app(service: Service | None = None) -> Flask:
    """Return the WSGI application. Its service comes from the environment by default."""
    chosen = service or create_service()
    app = Flask(__name__, static_folder=None)

    def run(path: str) -> Response:
        return handle(chosen)

    # A rule without methods takes them all, so that the service can name the right one.
    app.url_map.merge_slashes = False
    app.url_map.add(Rule("/", endpoint="run", defaults={"path": ""}))
    app.url_map.add(Rule("/<path:path>", endpoint="run"))
    app.view_functions["run"] = run
    return app
