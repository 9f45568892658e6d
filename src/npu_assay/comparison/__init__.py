"""Two archives, or an archive and a stored baseline, side by side: what differs, and whether that is worse.

`reading` makes a `Baseline` of an archive, `comparison` puts two of them side by side, one module a subject,
and `presentation/` prints that. Everything between reading and printing is pure.
"""
