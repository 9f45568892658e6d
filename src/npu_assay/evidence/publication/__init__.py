"""Archives that a checkout publishes, as bytes that git never converts.

```
logs/<name>/                an archive as it is, one run's or a merged one
logs/<name>-<stage>.log     the log of each of its stages again, where a reader looks first
SHA256SUMS                  every file under logs/; `sha256sum -c SHA256SUMS` from the checkout's root
```
Of a merged archive a stage that every shard ran has a log of each: `<name>-<stage>-<I>-of-<N>.log`.
"""
