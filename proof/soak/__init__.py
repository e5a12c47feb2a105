"""A soak: many runs through real servers and a real store, with everything that can go wrong.

`python -m proof.soak`, started by `make soak`, says how many runs were done once, again or never.
"""
