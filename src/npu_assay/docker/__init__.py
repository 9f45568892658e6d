"""Containers: what one is given of a host's NPUs, and the commands that give it."""
