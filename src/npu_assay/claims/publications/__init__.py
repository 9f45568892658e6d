"""Published results as data (`ci/claims/*.toml`), and what of them can be recomputed."""
