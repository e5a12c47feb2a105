"""A Cloud Scheduler job whose scheduled runs each happen once."""
