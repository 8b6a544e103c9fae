"""The table of encodings: each instruction's words, fields and meaning, once."""

from dataclasses import replace

from lanewise.arm64.encodings import (
    branches,
    crypto,
    estimates,
    floating,
    floating_more,
    immediate,
    memory,
    pairs,
    products,
    register,
    saturating,
    scalar,
    shifting,
    structures,
    vector,
    vector_more,
)
from lanewise.arm64.encodings.row import Row

_FLAGGED = ("fcmp", "fccmp", "fcsel")
"""Rows among those of floating point that read or set flags."""
_LONG = "crc32"
_VECTORS = (structures, vector, vector_more, scalar, crypto, saturating, shifting, products, estimates, floating_more)
"""Modules whose rows are about vector registers."""

TABLE: list[Row] = [
    *immediate.ROWS,
    *branches.ROWS,
    *(replace(row, apart=row.name == _LONG) for row in register.ROWS),
    *memory.ROWS,
    *(replace(row, ordered=True) for row in pairs.ROWS),
    *(replace(row, apart=row.name not in _FLAGGED) for row in floating.ROWS),
    *(replace(row, apart=True) for module in _VECTORS for row in module.ROWS),
]
