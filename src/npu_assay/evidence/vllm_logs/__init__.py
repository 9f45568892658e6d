"""Readers of what vLLM and LMCache print: from raw bytes to named types, every value with its line.

Each reader takes the file in chunks (`bounded.chunks_of` a file, or any iterable of bytes in which a
line feed ends a line) and keeps all that it finds: where workers or restarts disagree, nothing is chosen. A
line that is recognisably the reader's subject, in a form that nobody knows, is an `UnknownLineError` that
quotes it; so no value is ever lost, zero or None without a word.
"""
