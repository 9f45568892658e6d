"""vLLM plug-in that makes vLLM's KV-offloading parameters work on Ascend NPUs.

Importing it changes nothing: `plugin.register`, called by vLLM through the entry point group
`vllm.general_plugins`, does.
"""
