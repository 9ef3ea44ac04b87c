"""New inputs from old ones. A mutator takes a random generator, an input and others of its target, and gives an input.

Each knows the structure of what it changes: most of what it makes gets past the parser and into the reader.
"""

from __future__ import annotations

import copy
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from random import Random
from typing import Any

from lxml import etree

Mutator = Callable[[Random, bytes, Sequence[bytes]], bytes]

MAX_INPUT_BYTES = 48 * 1024
"""Size of the largest input; a tenth of them may be grown to this by repetition."""

NUMBERS = (
    "0", "-0", "-0.0", "1", "-1", "2", "0.5", "1e-5", "3.141592653589793", "-1.5707963267948966", "1e8", "1e16",
    "1e100", "1e154", "1e155", "1e200", "-1e200", "1e308", "1.8e308", "-1e308", "1e-200", "1e-308", "5e-324", "nan",
    "-nan", "inf", "-inf", "Infinity", "NaN", "1e400", "9" * 20, "9" * 400, "1" * 5000, "2147483647", "-2147483648",
    "4294967296",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551616", "1_000", "0x10", "1e",
    "+1", "1.", ".5", "1,5", "", " ", "1 2", "1 2 3", "1 0 0 0", "0 0 0", "true", "null", "\u0661", "\u00b2", "1d3",
    "--1",
)  # fmt: skip
PLAIN_NUMBERS = (
    "0", "-0.0", "1", "-1", "2", "0.5", "1e-5", "3.141592653589793", "-1.5707963267948966", "1e8", "1e16", "1e100",
    "1e154", "1e155", "1e200", "-1e200", "1e308", "-1e308", "1e-200", "1e-308", "5e-324", "2147483648",
    "9223372036854775808",
)  # fmt: skip
"""Numbers that every format can write."""
TEXTS = (
    "", " ", "a", "base", "\u00e9", "\u202e", "\x1b[31m", "\ud83e\udd16", "x" * 3000, "../x", "/dev/null", ".", "a.b",
    "$", "\\", "%s", "{0}", "&amp;", "<a>", "'", '"', "\n", "\t", "__class__", "None", "0", "true", "\ufeff", "\u0000",
    "[red]", "#",
)  # fmt: skip
WORDS_32 = (0, 1, 2, 3, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 2, 0x7F800000, 0xFF800000,
            0x7FC00000,
            0x7F7FFFFF, 0x00000001, 0x3F800000)  # fmt: skip
NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
TOKEN = re.compile(rb"\s+|[\w.+-]+|.", re.DOTALL)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def number(rng: Random) -> str:
    """A number as text: one that is no number, an extreme one, or an ordinary one."""
    how = rng.random()
    if how < 0.25:
        return rng.choice(NUMBERS)
    return rng.choice(PLAIN_NUMBERS) if how < 0.7 else repr(rng.choice((1, -1, 10, 1e3)) * rng.random())


# --- bytes ---


def flip(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Some bytes changed."""
    out = bytearray(data or b"\0")
    for _ in range(rng.choice((1, 1, 2, 8))):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def word(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Four or eight bytes overwritten by an ugly number, more often near the beginning."""
    value = rng.choice(WORDS_32)
    raw = struct.pack("<I", value) if rng.random() < 0.7 else struct.pack("<Q", value << rng.choice((0, 32)))
    span = min(len(data), rng.choice((16, 128, len(data) + 1))) or 1
    at = rng.randrange(span)
    at -= at % 4 if rng.random() < 0.7 else 0
    return data[:at] + raw + data[at + len(raw) :]


def cut(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A piece left out, or the end."""
    if not data:
        return data
    at = rng.randrange(len(data))
    if rng.random() < 0.3:
        return data[:at]
    return data[:at] + data[at + rng.choice((1, 2, 4, 16, 64, 256)) :]


def repeat(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """A piece several times over."""
    if not data:
        return data
    at = rng.randrange(len(data))
    piece = data[at : at + rng.choice((1, 2, 8, 32, 128))]
    times = rng.choice((1, 1, 2, 3, 10)) if rng.random() < 0.95 else MAX_INPUT_BYTES // (2 * len(piece))
    return data[:at] + piece * times + data[at:]


def splice(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The beginning of one input and the end of another."""
    other = rng.choice(others) if others else data
    if not data or not other:
        return data + other
    return data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]


BYTES: tuple[Mutator, ...] = (flip, word, cut, repeat, splice)


def any_bytes(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One change of bytes, whatever they mean."""
    return rng.choice(BYTES)(rng, data, others)


# --- text ---


def any_number(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One number of the text, the next from some place, replaced by an ugly one."""
    match = NUMBER.search(data, rng.randrange(len(data) + 1)) or NUMBER.search(data)
    if match is None:
        return any_bytes(rng, data, others)
    start, end = match.span()
    return data[:start] + _encode(number(rng)) + data[end:]


def any_token(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One token replaced, removed, doubled, or swapped with another."""
    tokens = TOKEN.findall(data[:MAX_INPUT_BYTES])
    if not tokens:
        return _encode(rng.choice(TEXTS))
    i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    how = rng.randrange(5)
    if how == 0:
        tokens[i] = _encode(rng.choice(TEXTS))
    elif how == 1:
        del tokens[i : i + rng.choice((1, 2, 5, 20))]
    elif how == 2:
        tokens[i:i] = tokens[j : j + rng.choice((1, 2, 5, 20))]
    elif how == 3:
        tokens[i], tokens[j] = tokens[j], tokens[i]
    else:
        other = TOKEN.findall(rng.choice(others)[:MAX_INPUT_BYTES]) if others else tokens
        tokens[i] = rng.choice(other) if other else b""
    return b"".join(tokens)


def any_line(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One line removed, doubled, moved or taken from another input."""
    lines = data[:MAX_INPUT_BYTES].split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(i, lines[j])
    elif how == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines.insert(i, rng.choice((rng.choice(others) if others else data)[:MAX_INPUT_BYTES].split(b"\n")))
    return b"\n".join(lines)


def mixed(*weighted: tuple[float, Mutator]) -> Mutator:
    """A mutator that makes a few changes, each by one of several mutators."""
    weights, mutators = [weight for weight, _ in weighted], [mutator for _, mutator in weighted]

    def mutate(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
        for mutator in rng.choices(mutators, weights, k=rng.choice((1, 1, 1, 2, 2, 3, 5))):
            data = mutator(rng, data, others)
        return data[: 2 * MAX_INPUT_BYTES]

    return mutate


text = mixed((4, any_number), (4, any_token), (2, any_line), (1, any_bytes))
binary = mixed((3, word), (1, flip), (1, cut), (0.5, repeat), (1, splice))


# --- XML ---

MAX_ELEMENTS = 400
_PARSER = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, recover=False)


@lru_cache(512)
def _tree(data: bytes) -> etree._Element | None:
    try:
        return etree.fromstring(data, _PARSER)
    except (etree.XMLSyntaxError, ValueError):
        return None


@lru_cache(64)
def _vocabulary(data: bytes) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Tags, attributes and values of a document."""
    root = _tree(data)
    elements = [] if root is None else [e for e in root.iter() if isinstance(e.tag, str)]
    tags = dict.fromkeys(str(e.tag) for e in elements)
    attributes = dict.fromkeys(str(a) for e in elements for a in e.attrib)
    values = dict.fromkeys(str(v) for e in elements for v in e.attrib.values())
    return tuple(tags) or ("a",), tuple(attributes) or ("name",), tuple(values) or ("0",)


def _value(rng: Random, old: str, values: Sequence[str]) -> str:
    """A value for an attribute: one number of it changed, or another value."""
    words = old.split()
    how = rng.random()
    if words and how < 0.55:
        words[rng.randrange(len(words))] = number(rng)
        return " ".join(words)
    if how < 0.7:
        return rng.choice(values)
    if how < 0.8:
        return rng.choice(TEXTS)
    return " ".join([*words, number(rng)] if how < 0.9 else words[:-1])


def xml_tree(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Elements and attributes changed, moved, doubled, renamed, removed."""
    original = _tree(data)
    if original is None or len(data) > MAX_INPUT_BYTES:
        return any_bytes(rng, data, others)
    root = copy.deepcopy(original)
    tags, attributes, values = _vocabulary(rng.choice(others) if others and rng.random() < 0.5 else data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change_element(rng, root, tags, attributes, values, others)
    return etree.tostring(root)


def _change_element(
    rng: Random,
    root: Any,
    tags: Sequence[str],
    attributes: Sequence[str],
    values: Sequence[str],
    others: Sequence[bytes],
) -> None:
    elements = [e for e in root.iter() if isinstance(e.tag, str)]
    element, other = rng.choice(elements), rng.choice(elements)
    above, how = element.getparent(), rng.random()
    try:
        if how < 0.45 and element.attrib:
            name = rng.choice(list(element.attrib))
            element.set(name, _value(rng, element.get(name), values))
        elif how < 0.55:
            element.set(rng.choice(attributes), _value(rng, rng.choice(values), values))
        elif how < 0.6 and element.attrib:
            del element.attrib[rng.choice(list(element.attrib))]
        elif how < 0.68 and above is not None:
            above.remove(element)
        elif how < 0.76:
            if len(elements) < MAX_ELEMENTS:
                other.append(copy.deepcopy(element))
        elif how < 0.84 and above is not None and other not in element.iter():
            other.append(element)
        elif how < 0.9:
            element.tag = rng.choice(tags)
        elif how < 0.93:
            inner = _tree(rng.choice(others)) if others else None
            if inner is not None:
                element.append(copy.deepcopy(rng.choice([e for e in inner.iter() if isinstance(e.tag, str)])))
        elif how < 0.95:
            for _ in range(rng.choice((3, 30, 240))):
                element = etree.SubElement(element, element.tag, dict(element.attrib))
        elif how < 0.97:
            piece = copy.deepcopy(element)
            for _ in range(min(rng.choice((3, 30, 100)), MAX_ELEMENTS // sum(1 for _ in piece.iter()))):
                other.append(copy.deepcopy(piece))
        else:
            element.text = rng.choice(TEXTS)
    except ValueError:  # control characters, which XML cannot hold
        return


xml = mixed((8, xml_tree), (1, any_number), (1, any_token), (0.5, any_bytes))


# --- JSON and TOML ---


def _parts(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Each place of a document, as a container and a key."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        _parts(value[key], found)
    return found


def _thing(rng: Random) -> Any:
    return rng.choice(
        (0, 1, -1, True, None, [], {}, "", "a", 1e308, -1e200, 1e-320, 10**400, 2**63, [0, 0, 0], [[1]], {"a": 1}, 0.1,
         float("nan"), float("inf"), rng.random(), rng.choice(TEXTS), [1e200, 0, 0], -0.0)
    )  # fmt: skip


def change_document(rng: Random, document: Any) -> Any:
    """The document, a few of its values changed, moved, doubled or removed."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = _parts(document, [])
        if not places:
            return _thing(rng)
        numbers = [(holder, key) for holder, key in places if isinstance(holder[key], int | float)]
        holder, key = rng.choice(numbers if numbers and rng.random() < 0.5 else places)
        source, other = rng.choice(places)
        how = rng.random()
        if how < 0.15:
            holder[key] = _thing(rng)
        elif how < 0.6 and isinstance(holder[key], int | float):
            holder[key] = rng.choice((0, -1, 1e8, 1e154, 1e200, -1e308, 1e-308, 5e-324, 0.5, rng.gauss(0, 1)))
        elif how < 0.68:
            holder[key] = _copy(source[other])
        elif how < 0.75:
            del holder[key]
        elif how < 0.9 and isinstance(holder, list):
            holder.insert(key, _copy(source[other]))
        elif isinstance(holder, dict):
            new = str(rng.choice([k for _, k in places]) if rng.random() < 0.8 else rng.choice(TEXTS))
            holder[new] = _copy(source[other]) if rng.random() < 0.5 else _thing(rng)
    return document


def _copy(value: Any) -> Any:
    """A copy of a part of a document; much faster than copy.deepcopy."""
    return json.loads(json.dumps(value)) if isinstance(value, dict | list) else value


def _document(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _dump(document: Any) -> bytes:
    try:
        return _encode(json.dumps(document, ensure_ascii=False))
    except (ValueError, RecursionError):
        return b"{}"


def json_document(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Values of a JSON document changed."""
    document = _document(data)
    return any_token(rng, data, others) if document is None else _dump(change_document(rng, document))


json_text = mixed((8, json_document), (1, any_token), (1, any_number), (0.5, any_bytes))
toml_text = mixed((6, any_number), (3, any_token), (3, any_line), (0.5, any_bytes))


# --- archives and tables of trajectories ---


@lru_cache(64)
def _members(data: bytes) -> dict[str, bytes] | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # whatever a damaged archive does
        return None


def npz_members(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The arrays of an archive changed: headers, numbers, the document among them; written as an archive again."""
    known = _members(data)
    if not known:
        return any_bytes(rng, data, others)
    members = dict(known)
    for _ in range(rng.choice((1, 1, 2))):
        name, other = rng.choice(list(members)), rng.choice(list(members))
        how = rng.random()
        if how < 0.3:
            members[name] = _change_facts(rng, members[name])
        elif how < 0.55:
            members[name] = _change_header(rng, members[name])
        elif how < 0.7:
            members[name] = any_bytes(rng, members[name], [members[other]])
        elif how < 0.8:
            members[name] = members[other]
        elif how < 0.9 and len(members) > 1:
            del members[name]
        else:
            members[rng.choice((other + "x", "facts", "a.npy", "../t.npy", "t.npy"))] = members[name]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _change_header(rng: Random, member: bytes) -> bytes:
    """The text at the beginning of an .npy file changed, with its length mended."""
    end = member.find(b"\n", 10)
    if not member.startswith(b"\x93NUMPY") or end < 0:
        return any_bytes(rng, member, [member])
    header = member[10:end].rstrip()
    if rng.random() < 0.5:
        pairs = ((b"<f8", rng.choice((b"<f4", b">f8", b"|O", b"<i8", b"<c16", b"<U3", b"|b1", b"<M8[s]", b"V8"))),
                 (b"False", b"True"), (b"(", b"(" + rng.choice((b"0, ", b"1, ", b"99999999999, ", b"-1, "))),
                 (b", ", b""))  # fmt: skip
        old, new = rng.choice(pairs)
        header = header.replace(old, new, 1)
    else:
        header = rng.choice((any_number, any_token))(rng, header, [header])
    return member[:8] + struct.pack("<H", (len(header) + 1) & 0xFFFF) + header + b"\n" + member[end + 1 :]


def _change_facts(rng: Random, member: bytes) -> bytes:
    """A document that is stored as an array of one text, changed."""
    end = member.find(b"\n", 10)
    if b"<U" not in member[:80] or end < 0:
        return _change_header(rng, member)
    try:
        document = json.loads(member[end + 1 :].decode("utf-32-le"))
    except ValueError:
        return any_bytes(rng, member, [member])
    text = _dump(change_document(rng, document)).decode("utf-8", "replace")
    header = b"{'descr': '<U%d', 'fortran_order': False, 'shape': (), }\n" % max(1, len(text))
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + text.encode("utf-32-le")


npz = mixed((6, npz_members), (1, any_bytes))


def parquet_facts(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The document in a Parquet file's footer changed in place: as many bytes as before, so that the footer holds."""
    start, end = data.find(b'{"format"'), data.rfind(b"}")
    if start < 0 or end < start:
        return any_bytes(rng, data, others)
    old = data[start : end + 1]
    new = rng.choice((json_document, any_number, any_token))(rng, old, [old])
    new = (new + b" " * len(old))[: len(old)] if len(new) <= len(old) else new
    return data[:start] + new + data[end + 1 :]


def parquet_table(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Columns of a Parquet file removed, renamed, shortened, or of another type; the file written again."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(io.BytesIO(data))
        k = rng.randrange(table.num_columns)
        how = rng.randrange(7)
        if how == 0:
            table = table.remove_column(k)
        elif how == 1:
            names = table.column_names
            names[k] = rng.choice((rng.choice(names), rng.choice(TEXTS), "row", "t"))
            table = table.rename_columns(names)
        elif how == 2:
            kind = rng.choice((pyarrow.string(), pyarrow.int8(), pyarrow.float32(), pyarrow.binary(), pyarrow.bool_()))
            table = table.set_column(k, table.field(k).name, pyarrow.nulls(table.num_rows, kind))
        elif how == 3:
            table = table.slice(rng.randrange(3), rng.randrange(4))
        else:
            facts = json.loads((table.schema.metadata or {}).get(b"chainrule", b"{}"))
            text = _dump(change_document(rng, facts))
            table = table.replace_schema_metadata({"chainrule": text, "chainrule digest": sha256(text).hexdigest()})
        out = io.BytesIO()
        pyarrow.parquet.write_table(table, out, compression="none")
    except Exception:  # whatever a damaged table does
        return any_bytes(rng, data, others)
    return out.getvalue()


parquet = mixed((4, parquet_table), (1, parquet_facts), (1, any_bytes))


# --- cache entries and command lines ---


def _entry_header(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The first line of a cache entry changed as JSON."""
    head, newline, rest = data.partition(b"\n")
    return json_text(rng, head, [head]) + newline + rest


def _entry_code(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The code of a cache entry changed."""
    head, newline, rest = data.partition(b"\n")
    return head + newline + any_bytes(rng, rest, [rest])


cache_entry = mixed((4, _entry_header), (2, _entry_code), (2, any_bytes))


def command_words(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """The words of a command line, one on each line, changed, removed, doubled, or taken from another."""
    words = data.split(b"\n")
    i = rng.randrange(len(words))
    how = rng.random()
    if how < 0.35:
        words[i] = any_number(rng, words[i], [words[i]]) if NUMBER.search(words[i]) else _encode(number(rng))
    elif how < 0.45:
        words[i] = _encode(rng.choice(TEXTS)).replace(b"\n", b"")
    elif how < 0.55:
        del words[i]
    elif how < 0.65:
        words.insert(i, rng.choice(words))
    elif how < 0.9:
        other = (rng.choice(others) if others else data).split(b"\n")
        words[i : i + rng.randrange(2)] = other[(at := rng.randrange(len(other))) : at + rng.choice((1, 2))]
    else:
        words[i] = any_bytes(rng, words[i], [words[i]]).replace(b"\n", b"")
    return b"\n".join(words)


command = mixed((1, command_words))


def checksum(data: bytes) -> int:
    """A number for an input, for choices that should be the same each time."""
    return zlib.crc32(data)
