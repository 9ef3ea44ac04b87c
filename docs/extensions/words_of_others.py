"""The table of words of other libraries, as the library itself has it."""

from chainrule.display import words


def table() -> str:
    """In Markdown."""
    return words.markdown()
