"""Environments: the lock model, the steps that install, what is installed."""
