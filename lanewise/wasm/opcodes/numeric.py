"""Arithmetic, comparison and conversion of i32, i64, f32 and f64."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.opcodes.row import F32, F64, I32, I64, LLVM_TYPES, Op, op

DIVIDE_BY_ZERO = "integer divide by zero"
OVERFLOW = "integer overflow"
INVALID_CONVERSION = "invalid conversion to integer"


def _flag(compare: str) -> str:
    return f"%flag = {compare}\n%r = zext i1 %flag to i32"


def _integer_tests(kind: str, test: int, first: int) -> Iterator[Op]:
    yield op(test, f"{kind}.eqz", f"{kind} -> i32", _flag(f"icmp eq {kind} %0, 0"))
    names = ("eq", "ne", "lt_s", "lt_u", "gt_s", "gt_u", "le_s", "le_u", "ge_s", "ge_u")
    predicates = ("eq", "ne", "slt", "ult", "sgt", "ugt", "sle", "ule", "sge", "uge")
    for at, (name, predicate) in enumerate(zip(names, predicates, strict=True)):
        yield op(first + at, f"{kind}.{name}", f"{kind} {kind} -> i32", _flag(f"icmp {predicate} {kind} %0, %1"))


def _float_tests(kind: str, first: int) -> Iterator[Op]:
    llvm = LLVM_TYPES[kind]
    predicates = ("oeq", "une", "olt", "ogt", "ole", "oge")
    for at, (name, predicate) in enumerate(zip(("eq", "ne", "lt", "gt", "le", "ge"), predicates, strict=True)):
        yield op(first + at, f"{kind}.{name}", f"{kind} {kind} -> i32", _flag(f"fcmp {predicate} {llvm} %0, %1"))


def _integer_arithmetic(kind: str, first: int) -> Iterator[Op]:
    bits = int(kind[1:])
    for at, (name, intrinsic) in enumerate({"clz": "ctlz", "ctz": "cttz"}.items()):
        call = f"%r = call {kind} @llvm.{intrinsic}.{kind}({kind} %0, i1 false)"
        yield op(first + at, f"{kind}.{name}", f"{kind} -> {kind}", call)
    yield op(first + 2, f"{kind}.popcnt", f"{kind} -> {kind}", f"%r = call {kind} @llvm.ctpop.{kind}({kind} %0)")
    zero = f"%zero = icmp eq {kind} %1, 0\ntrap %zero, {DIVIDE_BY_ZERO}\n"
    minimum = -(1 << (bits - 1))
    overflows = (
        f"%lowest = icmp eq {kind} %0, {minimum}\n%minus = icmp eq {kind} %1, -1\n%both = and i1 %lowest, %minus\n"
    )
    divide_s = f"{zero}{overflows}trap %both, {OVERFLOW}\n%r = sdiv {kind} %0, %1"
    # The remainder of the lowest number by -1 is 0, but LLVM leaves it undefined: divide by 1 instead.
    remainder_s = f"""{zero}%minus = icmp eq {kind} %1, -1
        %divisor = select i1 %minus, {kind} 1, {kind} %1
        %r = srem {kind} %0, %divisor"""
    shift = f"%by = and {kind} %1, {bits - 1}\n"
    meanings = {
        "add": f"%r = add {kind} %0, %1",
        "sub": f"%r = sub {kind} %0, %1",
        "mul": f"%r = mul {kind} %0, %1",
        "div_s": divide_s,
        "div_u": f"{zero}%r = udiv {kind} %0, %1",
        "rem_s": remainder_s,
        "rem_u": f"{zero}%r = urem {kind} %0, %1",
        "and": f"%r = and {kind} %0, %1",
        "or": f"%r = or {kind} %0, %1",
        "xor": f"%r = xor {kind} %0, %1",
        "shl": f"{shift}%r = shl {kind} %0, %by",
        "shr_s": f"{shift}%r = ashr {kind} %0, %by",
        "shr_u": f"{shift}%r = lshr {kind} %0, %by",
        "rotl": f"%r = call {kind} @llvm.fshl.{kind}({kind} %0, {kind} %0, {kind} %1)",
        "rotr": f"%r = call {kind} @llvm.fshr.{kind}({kind} %0, {kind} %0, {kind} %1)",
    }
    for at, (name, meaning) in enumerate(meanings.items()):
        yield op(first + 3 + at, f"{kind}.{name}", f"{kind} {kind} -> {kind}", meaning)


def _float_arithmetic(kind: str, first: int) -> Iterator[Op]:
    llvm, bits = LLVM_TYPES[kind], kind[1:]

    def call(name: str, operands: str) -> str:
        return f"%r = call {llvm} @{name}.{kind}({operands})"

    one, two = f"{llvm} %0", f"{llvm} %0, {llvm} %1"
    # Sign operations change one bit and nothing else, also of a NaN: helpers keep targets from doing more.
    yield op(first, f"{kind}.abs", f"{kind} -> {kind}", call("lw.abs", one))
    yield op(first + 1, f"{kind}.neg", f"{kind} -> {kind}", call("lw.neg", one))
    for at, (name, intrinsic) in enumerate(
        {"ceil": "ceil", "floor": "floor", "trunc": "trunc", "nearest": "roundeven", "sqrt": "sqrt"}.items()
    ):
        yield op(first + 2 + at, f"{kind}.{name}", f"{kind} -> {kind}", call(f"llvm.{intrinsic}", one), nan=True)
    for at, name in enumerate(("add", "sub", "mul", "div")):
        yield op(
            first + 7 + at,
            f"{kind}.{name}",
            f"{kind} {kind} -> {kind}",
            f"%r = f{name} {llvm} %0, %1",
            nan=True,
        )
    for at, (name, intrinsic) in enumerate({"min": "minimum", "max": "maximum"}.items()):
        # LLVM may drop the operation where both operands are the same value, and with it the quieting of a NaN.
        quiet = f"""
            %least = call {llvm} @llvm.{intrinsic}.{kind}({two})
            %unordered = fcmp uno {llvm} %0, %1
            %r = select i1 %unordered, {llvm} {CANONICAL_NAN[kind]}, {llvm} %least"""
        yield op(first + 11 + at, f"{kind}.{name}", f"{kind} {kind} -> {kind}", quiet)
    yield op(
        first + 13, f"{kind}.copysign", f"{kind} {kind} -> {kind}", f"%r = call {llvm} @lw.copysign.f{bits}({two})"
    )


CANONICAL_NAN = {F32: "0x7FF8000000000000", F64: "0x7FF8000000000000"}
"""As LLVM writes the numbers: those of f32 too with the digits of a double."""

_LIMITS = {
    # (from, to, signed): the largest value below the range and the smallest above it, each exact in its type.
    (F32, I32, True): ("ult", -2147483648.0, 2147483648.0),
    (F32, I32, False): ("ule", -1.0, 4294967296.0),
    (F64, I32, True): ("ule", -2147483649.0, 2147483648.0),
    (F64, I32, False): ("ule", -1.0, 4294967296.0),
    (F32, I64, True): ("ult", -9223372036854775808.0, 9223372036854775808.0),
    (F32, I64, False): ("ule", -1.0, 18446744073709551616.0),
    (F64, I64, True): ("ult", -9223372036854775808.0, 9223372036854775808.0),
    (F64, I64, False): ("ule", -1.0, 18446744073709551616.0),
}


def _truncate(source: str, target: str, signed: bool) -> str:
    llvm = LLVM_TYPES[source]
    below, low, high = _LIMITS[source, target, signed]
    return f"""
        %nan = fcmp uno {llvm} %0, 0.0
        trap %nan, {INVALID_CONVERSION}
        %below = fcmp {below} {llvm} %0, {_digits(low)}
        %above = fcmp uge {llvm} %0, {_digits(high)}
        %outside = or i1 %below, %above
        trap %outside, {OVERFLOW}
        %r = {"fptosi" if signed else "fptoui"} {llvm} %0 to {target}"""


def _digits(value: float) -> str:
    return f"{int(value)}.0"


def _conversions() -> Iterator[Op]:
    yield op(0xA7, "i32.wrap_i64", "i64 -> i32", "%r = trunc i64 %0 to i32")
    for first, target in ((0xA8, I32), (0xAE, I64)):
        for at, (source, sign) in enumerate(((F32, "s"), (F32, "u"), (F64, "s"), (F64, "u"))):
            name = f"{target}.trunc_{source}_{sign}"
            yield op(first + at, name, f"{source} -> {target}", _truncate(source, target, sign == "s"))
    for sign, extend in (("s", "sext"), ("u", "zext")):
        code = 0xAC if sign == "s" else 0xAD
        yield op(code, f"i64.extend_i32_{sign}", "i32 -> i64", f"%r = {extend} i32 %0 to i64")
    for first, target in ((0xB2, F32), (0xB7, F64)):
        for at, (source, sign) in enumerate(((I32, "s"), (I32, "u"), (I64, "s"), (I64, "u"))):
            convert = "sitofp" if sign == "s" else "uitofp"
            meaning = f"%r = {convert} {source} %0 to {LLVM_TYPES[target]}"
            yield op(first + at, f"{target}.convert_{source}_{sign}", f"{source} -> {target}", meaning)
    # Demoting what was promoted is no change to LLVM, which forgets that a NaN becomes quiet on the way.
    demote = f"""
        %less = fptrunc double %0 to float
        %nan = fcmp uno double %0, 0.0
        %r = select i1 %nan, float {CANONICAL_NAN[F32]}, float %less"""
    yield op(0xB6, "f32.demote_f64", "f64 -> f32", demote)
    yield op(0xBB, "f64.promote_f32", "f32 -> f64", "%r = fpext float %0 to double", nan=True)
    # Helpers again: seeing through a plain cast, LLVM makes sign operations of logic on bits.
    for at, (kind, bits) in enumerate(((F32, I32), (F64, I64))):
        to_bits = f"%r = call {bits} @lw.bits.{kind}({LLVM_TYPES[kind]} %0)"
        yield op(0xBC + at, f"{bits}.reinterpret_{kind}", f"{kind} -> {bits}", to_bits)
        from_bits = f"%r = call {LLVM_TYPES[kind]} @lw.from_bits.{kind}({bits} %0)"
        yield op(0xBE + at, f"{kind}.reinterpret_{bits}", f"{bits} -> {kind}", from_bits)


def _sign_extensions() -> Iterator[Op]:
    rows = ((0xC0, I32, 8), (0xC1, I32, 16), (0xC2, I64, 8), (0xC3, I64, 16), (0xC4, I64, 32))
    for code, kind, bits in rows:
        meaning = f"%low = trunc {kind} %0 to i{bits}\n%r = sext i{bits} %low to {kind}"
        yield op(code, f"{kind}.extend{bits}_s", f"{kind} -> {kind}", meaning, feature="sign-extension")


def _saturating() -> Iterator[Op]:
    code = 0xFC << 16
    for target in (I32, I64):
        for source in (F32, F64):
            for sign, convert in (("s", "fptosi"), ("u", "fptoui")):
                meaning = f"%r = call {target} @llvm.{convert}.sat.{target}.{source}({LLVM_TYPES[source]} %0)"
                name = f"{target}.trunc_sat_{source}_{sign}"
                yield op(code, name, f"{source} -> {target}", meaning, feature="saturating-conversion")
                code += 1


ROWS = (
    op(0x41, "i32.const", "-> i32", immediates="i32", rule="const"),
    op(0x42, "i64.const", "-> i64", immediates="i64", rule="const"),
    op(0x43, "f32.const", "-> f32", immediates="f32", rule="const"),
    op(0x44, "f64.const", "-> f64", immediates="f64", rule="const"),
    *_integer_tests(I32, 0x45, 0x46),
    *_integer_tests(I64, 0x50, 0x51),
    *_float_tests(F32, 0x5B),
    *_float_tests(F64, 0x61),
    *_integer_arithmetic(I32, 0x67),
    *_integer_arithmetic(I64, 0x79),
    *_float_arithmetic(F32, 0x8B),
    *_float_arithmetic(F64, 0x99),
    *_conversions(),
    *_sign_extensions(),
    *_saturating(),
)
