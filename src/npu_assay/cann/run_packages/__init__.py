"""Installing the vendor's run packages: what a lock names, from files or a download, checked before it runs.

Nothing here was ever tried with the vendor's own packages, which need their licence: the order, the options
and what is left on disk are those of the vendor's documents and of cann-container-image, the tests' packages
are stand-ins in makeself's layout.
"""
