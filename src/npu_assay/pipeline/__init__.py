"""Pipelines: the stage graph and the runner."""
