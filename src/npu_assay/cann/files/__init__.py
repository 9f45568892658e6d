"""CANN's version files: pure functions from a file's text to what it says. No file is opened here."""
