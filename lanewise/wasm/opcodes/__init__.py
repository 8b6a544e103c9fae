"""The opcode table: each instruction once, with its encoding, its types and its meaning.

Decoder, validator, compiler and disassembler all read these rows; see `row` for what a row says.
"""

from __future__ import annotations

from lanewise.wasm.opcodes import atomics, control, memory, numeric, simd
from lanewise.wasm.opcodes.row import Op

OPS: dict[int, Op] = {
    row.code: row for rows in (control.ROWS, memory.ROWS, numeric.ROWS, simd.ROWS, atomics.ROWS) for row in rows
}
"""Every instruction by its opcode."""

__all__ = ["OPS", "Op"]
