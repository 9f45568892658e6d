"""A folder for PYTHONPATH, from which pip learns what a source distribution is without running it.

`pip download` asks a source distribution's build backend for name and version before it keeps the file. For
vLLM that means to build with torch, which is not there yet, or to download it for a build of no use. Here the
backend `setuptools.build_meta` answers with the PKG-INFO that the distribution carries, so pip alone finds,
fetches and checks every file, by the user's own settings.
"""
