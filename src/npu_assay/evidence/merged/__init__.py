"""Archives of the shards of one run, joined into one archive.

```
merged.json            record.py: of each shard its folder, host, times and stages
shards/<I>-of-<N>/     each archive as it is, with its own SHA256SUMS
junit.xml SHA256SUMS   and what is derived, as in every archive
```
What `archive merge` refuses (agreement.py) is what the rule `shards` looks for again: one list of reasons.
"""
