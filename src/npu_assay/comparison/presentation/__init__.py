"""A comparison for people: the same sections as text for a terminal and as Markdown for a pull request."""
