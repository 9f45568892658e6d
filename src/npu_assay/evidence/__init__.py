"""The archive: raw logs, SHA256SUMS, manifest, JUnit."""
