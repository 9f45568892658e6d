"""What `diagnose` looks at, a module a family of checks: generators from a Look to Diagnosis values."""
