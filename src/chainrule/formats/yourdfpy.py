"""URDF that the package yourdfpy has read, as text again."""

from __future__ import annotations

from typing import Any

from chainrule.errors import FormatError
from chainrule.formats.source import Content


def is_urdf(thing: object) -> bool:
    """Whether a thing is a yourdfpy.URDF."""
    return type(thing).__module__.partition(".")[0] == "yourdfpy" and type(thing).__name__ == "URDF"


def text_of(urdf: Any) -> Content:
    """The XML that a yourdfpy.URDF writes."""
    if not is_urdf(urdf):
        raise FormatError(f"from_yourdfpy takes a yourdfpy.URDF, got {type(urdf).__name__}")
    try:
        text = urdf.write_xml_string()
    except Exception as error:
        raise FormatError(f"yourdfpy cannot write its URDF: {error}; load the file itself") from error
    return Content(text if isinstance(text, bytes) else text.encode(), "the URDF of yourdfpy")
