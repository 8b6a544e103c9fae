"""Vector instructions on v128."""

from __future__ import annotations

from lanewise.wasm.opcodes import simd_float, simd_integer, simd_lanes, simd_memory

ROWS = (*simd_memory.ROWS, *simd_lanes.ROWS, *simd_integer.ROWS, *simd_float.ROWS)
