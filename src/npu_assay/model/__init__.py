"""A model's folder: is it whole, and which one is it. Nothing here loads a model, or fetches one."""
