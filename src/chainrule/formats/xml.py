"""XML from untrusted files: no entities, no network, and errors that name the line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chainrule.errors import FormatError
from chainrule.lazy import module

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = module("lxml.etree")


class XmlElement:
    """An element whose attributes are read as texts, numbers or vectors."""

    def __init__(self, element: etree._Element, source: str) -> None:
        self.element = element
        self.source = source

    @property
    def tag(self) -> str:
        return str(self.element.tag)

    @property
    def where(self) -> str:
        """File, line, tag and name, for messages."""
        name = self.element.get("name")
        label = f"<{self.tag} name={name!r}>" if name is not None else f"<{self.tag}>"
        return f"{self.source}, line {self.element.sourceline}, {label}"

    def error(self, message: str) -> FormatError:
        return FormatError(f"{self.where}: {message}")

    def children(self, *tags: str) -> Iterator[XmlElement]:
        """Child elements, all or those with the given tags, in the file's order."""
        for child in self.element:
            if isinstance(child.tag, str) and (not tags or child.tag in tags):
                yield XmlElement(child, self.source)

    def child(self, tag: str) -> XmlElement | None:
        """The only child with this tag, or None."""
        found = list(self.children(tag))
        if len(found) > 1:
            raise found[1].error(f"there are {len(found)} <{tag}> elements in this {self.tag}; keep one")
        return found[0] if found else None

    def required_child(self, tag: str) -> XmlElement:
        found = self.child(tag)
        if found is None:
            raise self.error(f"needs a <{tag}> element")
        return found

    def get(self, attribute: str) -> str | None:
        value = self.element.get(attribute)
        return None if value is None else str(value)

    def text(self, attribute: str) -> str:
        """An attribute that must be there."""
        value = self.get(attribute)
        if value is None or not value.strip():
            raise self.error(f"needs the attribute {attribute!r}")
        return value.strip()

    def numbers(self, attribute: str) -> list[float] | None:
        """The numbers of an attribute, however many; None if it is not there."""
        value = self.get(attribute)
        if value is None:
            return None
        try:
            if "_" in value or not value.isascii():  # which float() takes for digits, and no other reader does
                raise ValueError
            numbers = [float(word) for word in value.split()]
        except ValueError:
            raise self.error(f"{attribute}={value[:60]!r} should be numbers separated by spaces") from None
        if not all(math.isfinite(x) for x in numbers):
            raise self.error(f"{attribute}={value[:60]!r} is not finite")
        return numbers

    def vector(self, attribute: str, length: int, default: tuple[float, ...] | None = None) -> list[float]:
        """An attribute of exactly `length` numbers."""
        numbers = self.numbers(attribute)
        count = "one number" if length == 1 else f"{length} numbers"
        if numbers is None:
            if default is None:
                raise self.error(f"needs the attribute {attribute!r}, {count}")
            return list(default)
        if len(numbers) != length:
            given = str(self.get(attribute))[:60]
            raise self.error(f"{attribute}={given!r} should be {count}, got {len(numbers)}")
        return numbers

    def number(self, attribute: str, default: float | None = None) -> float:
        """An attribute of one number."""
        return self.vector(attribute, 1, None if default is None else (default,))[0]


MAX_PROLOG_BYTES = 1 << 20
"""Bytes of a file in which its root element is looked for."""

BEFORE_XML = b"\xef\xbb\xbf\xfe\xff\x00 \t\r\n"
"""Bytes that may come before the first "<" of XML: marks of the encoding, halves of letters, spaces."""


def root_tag(content: bytes) -> str | None:
    """The name of the root element, from the beginning of the content; None where that is not XML.

    >>> root_tag(b'<?xml version="1.0"?><!-- a robot --><robot name="r"><link'), root_tag(b"format = 'chainrule 1'")
    ('robot', None)
    """
    if not content.lstrip(BEFORE_XML).startswith(b"<"):
        return None
    parser = etree.XMLPullParser(
        events=("start",), resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False
    )
    try:
        for start in range(0, min(len(content), MAX_PROLOG_BYTES), 4096):
            parser.feed(content[start : start + 4096])
            if found := _first_tag(parser):
                return found
    except (etree.XMLSyntaxError, ValueError):
        pass
    return _first_tag(parser)


def _first_tag(parser: etree.XMLPullParser) -> str | None:
    for _, element in parser.read_events():
        return str(element.tag)  # type: ignore[union-attr]
    return None


def parse(content: bytes, source: str) -> XmlElement:
    """The root element."""
    try:
        root = _parse(content)
    except etree.XMLSyntaxError as error:
        message = " ".join((error.msg or "").split())
        large = "XML_PARSE_HUGE" in message
        hint = "no robot file needs texts of 10 MB or 256 levels" if large else "it may be truncated, or no XML at all"
        raise FormatError(f"{source} is not well-formed XML: {message}; {hint}") from error
    except ValueError as error:
        raise FormatError(f"{source} is not XML that can be read: {error}") from error
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None:
        raise FormatError(
            f"{source} has a document type declaration (<!DOCTYPE ...>), which can define entities and name other "
            "files; robot files need none, remove it"
        )
    return XmlElement(root, source)


def _parse(content: bytes) -> etree._Element:
    """The root element; a prefix without a namespace, as in <drake:acceleration>, is part of the name."""
    options: dict[str, bool] = {
        "resolve_entities": False, "load_dtd": False, "no_network": True, "huge_tree": False,
        "remove_comments": True, "remove_pis": True,
    }  # fmt: skip
    parser = etree.XMLParser(**options)  # type: ignore[arg-type]
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        undeclared = etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE
        log: Any = parser.error_log
        if not log or any(entry.type != undeclared for entry in log):
            raise
    return etree.fromstring(content, etree.XMLParser(**options, recover=True))  # type: ignore[arg-type]
