"""Text that fits on one line of a message, whatever it holds."""


def printable(text: str) -> str:
    """The text on one line: a file's name may have newlines, escapes, bytes that are no text."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )
