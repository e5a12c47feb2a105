"""Calls of what the proxy starts: bodies, requests, and what the answers mean."""
