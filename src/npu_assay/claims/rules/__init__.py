"""One class a family of claims about an archive. `claims/published.py` says which pipeline has which."""
