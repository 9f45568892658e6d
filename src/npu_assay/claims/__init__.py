"""Rules, findings and the verdict."""
