"""What the Functions Framework starts: the service's one function."""

from app.http.functions import create_app

handle_scheduled_job = create_app()
