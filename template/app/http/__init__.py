"""Frameworks: each adapter turns its requests into the service's and the answers back."""
