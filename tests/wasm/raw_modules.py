"""Puts modules together byte by byte, right ones and wrong ones, for the tests of the decoder and the validator."""

HEADER = b"\0asm\x01\0\0\0"
TYPES = {"i32": b"\x7f", "i64": b"\x7e", "f32": b"\x7d", "f64": b"\x7c", "v128": b"\x7b", "funcref": b"\x70"}
TYPE, IMPORT, FUNCTION, TABLE, MEMORY, GLOBAL, EXPORT, START, ELEMENT, CODE, DATA, DATA_COUNT, TAG = range(1, 14)


def number(value: int) -> bytes:
    """An unsigned number as LEB128."""
    found = b""
    while value >= 0x80:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def sized(content: bytes) -> bytes:
    """Bytes behind their number; a name, if they are one."""
    return number(len(content)) + content


def vector(entries) -> bytes:
    """Entries behind their number."""
    entries = list(entries)
    return number(len(entries)) + b"".join(entries)


def section(kind: int, *entries: bytes) -> bytes:
    """A section that is a vector of entries."""
    return bytes([kind]) + sized(vector(entries))


def custom(name: str, content: bytes = b"") -> bytes:
    """A custom section."""
    return b"\0" + sized(sized(name.encode()) + content)


def module(*sections: bytes) -> bytes:
    """A module of these sections."""
    return HEADER + b"".join(sections)


def function_type(params: str = "", results: str = "") -> bytes:
    """A function type; value types are words with spaces between."""
    return b"\x60" + vector(TYPES[word] for word in params.split()) + vector(TYPES[word] for word in results.split())


def body(code: bytes, local_groups: bytes = b"\0") -> bytes:
    """A function body: the groups of locals, then instructions with their last `end`."""
    return sized(local_groups + code)


def one_function(
    code: bytes, *, params="", results="", local_groups=b"\0", before=b"", exports=(), before_code=b"", after=b""
) -> bytes:
    """A module with one function; `before` are sections in front of the exports, the others around the code."""
    entries = [sized(name) + b"\0" + number(index) for name, index in exports]
    return module(
        section(TYPE, function_type(params, results)),
        section(FUNCTION, b"\0"),
        before,
        section(EXPORT, *entries),
        before_code,
        section(CODE, body(code, local_groups)),
        after,
    )
