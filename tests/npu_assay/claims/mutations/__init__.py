"""Good archives, each corrupted in one way at a time: that is found, by the rule whose subject it is.

`forged.py` is a copy of an archive in a forger's hands, `mutation.py` one way to corrupt it, `families/` has
them by subject, `good.py` the archives that they are tried on.
"""
