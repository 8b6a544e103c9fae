"""Which NaN a computation gives: what the specification says, also where a target or the optimiser has another."""

from __future__ import annotations

from lanewise.wasm.emitter import Emitter, Value
from lanewise.wasm.opcodes.row import LLVM_TYPES, Op

IDENTITIES = frozenset(f"0x{bits:016X}" for bits in (0, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000))
"""Plus and minus 0 and 1: LLVM drops operations with them, and so the quieting of a NaN."""

QUIET_BITS = {"f32": 0x7FC00000, "f64": 0x7FF8000000000000}
"""The canonical NaNs."""


def settle_nan(fn: Emitter, op: Op, result: str, operands: list[Value]) -> str:
    """A computed NaN as the specification wants it, where the target or the optimiser might give another."""
    kind = op.results[0]
    if kind == "v128":
        return _settle_lanes(fn, op, result, any(value.startswith("<") for _, value in operands))
    if not (fn.build.gpu and kind == "f32"):
        return result
    llvm = LLVM_TYPES[kind]
    # On the bits: to LLVM a select between NaNs is no choice.
    bits = f"i{kind[1:]}"
    nan = fn.assign(f"fcmp uno {llvm} {result}, 0.0")
    plain = fn.assign(f"call {bits} @lw.bits.{kind}({llvm} {result})")
    settled = fn.assign(f"select i1 {nan}, {bits} {QUIET_BITS[kind]}, {bits} {plain}")
    return fn.assign(f"call {llvm} @lw.from_bits.{kind}({bits} {settled})")


def _settle_lanes(fn: Emitter, op: Op, result: str, known: bool) -> str:
    singles = op.name.startswith("f32x4")
    if not known and not fn.build.gpu:
        return result
    floats, bits = ("<4 x float>", "<4 x i32>") if singles else ("<2 x double>", "<2 x i64>")
    quiet = "splat (i32 2143289344)" if singles else "splat (i64 9221120237041090560)"
    nan = fn.assign(f"fcmp uno {floats} {fn.assign(f'bitcast <4 x i32> {result} to {floats}')}, zeroinitializer")
    plain = fn.assign(f"bitcast <4 x i32> {result} to {bits}")
    flags = f"<{4 if singles else 2} x i1>"
    settled = fn.assign(f"select {flags} {nan}, {bits} {quiet}, {bits} {plain}")
    return fn.assign(f"bitcast {bits} {settled} to <4 x i32>")
