"""The proof of the protocol: the real code, simulated surroundings, one seed for all of it.

It is about `template/app`, which has to be importable: `make simulate-proof` sees to that.
"""
