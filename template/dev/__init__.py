"""Tools for development: the local server and a local Cloud Scheduler. Never deployed."""
