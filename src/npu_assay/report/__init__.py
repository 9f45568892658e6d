"""What is derived from a judged archive: statement and reports, the same bytes each time."""
