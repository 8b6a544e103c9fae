"""Every LLVM construct that the project relies on, compiled for both targets and assembled by ptxas where there is one.

A new llvmlite is safe to take when this file passes. The failures at its end are known: one that disappears fails too.
"""

from __future__ import annotations

import ctypes
import math
import platform
import re
from dataclasses import dataclass

import pytest

from lanewise.compiler import (
    Job,
    Library,
    Target,
    WorkerPool,
    assemble,
    compile_module,
    find_ptxas,
    load_object,
    stages,
)
from lanewise.errors import CompileError

GPU = Target.nvptx(90)
WIDTHS = (8, 16, 32, 64)
FLOATS = {"float": "f32", "double": "f64"}


@dataclass(frozen=True)
class Construct:
    """A snippet; KERNEL in it is the calling convention of a kernel, and nothing on the host."""

    name: str
    ir: str
    ptx: tuple[str, ...] = ()
    """Regular expressions that the PTX must match, in any order."""
    not_ptx: tuple[str, ...] = ()
    host: bool = True
    gpu: bool = True

    def text(self, target: Target) -> str:
        return self.ir.replace("KERNEL", "ptx_kernel" if target.kind == "nvptx" else "")


def kernel(body: str, declarations: str = "") -> str:
    """Return a module with one kernel; its parameters are of all the types that the bodies need."""
    parameters = "ptr %p, i32 %x, i64 %y, float %f, double %d"
    return f"{declarations}\ndefine KERNEL void @k({parameters}) {{\nentry:\n{body}\n  ret void\n}}\n"


def keep(*values: str) -> str:
    """Store values, each with its type, so that nothing that computes them is optimised away."""
    return "\n".join(f"  store volatile {value}, ptr %p" for value in values)


def calls(*signatures: str) -> str:
    """Call intrinsics, each written as in a call, and keep the results; also return what declares them."""
    body, declarations = [], []
    for number, signature in enumerate(signatures):
        result, callee, arguments = re.findall(r"^(\S+) (@[\w.]+)\((.*)\)$", signature)[0]
        types = ", ".join(argument.split()[0] for argument in arguments.split(", ") if argument)
        declarations.append(f"declare {result} {callee}({types})")
        if result == "void":
            body.append(f"  call void {callee}({arguments})")
        else:
            body += [f"  %r{number} = call {result} {callee}({arguments})", keep(f"{result} %r{number}")]
    return kernel("\n".join(body), "\n".join(dict.fromkeys(declarations)))


def atomics() -> list[Construct]:
    found = []
    for width, operand in ((32, "i32 %x"), (64, "i64 %y")):
        for operation in ("add", "sub", "min", "max", "umin", "umax", "and", "or", "xor", "xchg"):
            body = f"  %r = atomicrmw {operation} ptr %p, {operand} monotonic\n" + keep(f"i{width} %r")
            opcode = {"sub": "add", "umin": "min.u", "umax": "max.u", "min": "min.s", "max": "max.s", "xchg": "exch"}
            expected = rf"atom\.global\.{opcode.get(operation, operation)}"
            found.append(Construct(f"atomicrmw {operation} i{width}", kernel(body), ptx=(expected,)))
    for kind, operand in (("float", "%f"), ("double", "%d")):
        body = f"  %r = atomicrmw fadd ptr %p, {kind} {operand} monotonic\n" + keep(f"{kind} %r")
        expected = rf"atom\.global\.add\.{FLOATS[kind]}"
        found.append(Construct(f"atomicrmw fadd {kind}", kernel(body), ptx=(expected,)))
    return found


def orderings() -> list[Construct]:
    found = []
    for scope, short in (("", "sys"), ('syncscope("device")', "gpu"), ('syncscope("block")', "cta")):
        on_host = not scope  # the host knows the default scope alone
        fenced = (
            f"  fence {scope} release\n  %r = atomicrmw add ptr %p, i32 %x {scope} monotonic\n  fence {scope} acquire\n"
        )
        fence = rf"fence\.acq_rel\.{short};"
        found.append(
            Construct(
                f"fences around atomicrmw, {short}",
                kernel(fenced + keep("i32 %r")),
                ptx=(rf"{fence}\s+atom\.global\.add\.u32[^\n]*\n\s+{fence}",),
                host=on_host,
            )
        )
        found.append(
            Construct(
                f"fence seq_cst, {short}", kernel(f"  fence {scope} seq_cst"), (rf"fence\.sc\.{short};",), host=on_host
            )
        )
        for order, failure, expected in (
            ("monotonic", "monotonic", rf"atom\.relaxed\.{short}\.global\.cas\.b32"),
            ("acquire", "monotonic", rf"atom\.acquire\.{short}\.global\.cas\.b32"),
            ("release", "monotonic", rf"atom\.release\.{short}\.global\.cas\.b32"),
            ("acq_rel", "acquire", rf"atom\.acq_rel\.{short}\.global\.cas\.b32"),
            ("seq_cst", "seq_cst", rf"fence\.sc\.{short};\s+atom\.acquire\.{short}\.global\.cas\.b32"),
        ):
            body = f"""
  %pair = cmpxchg ptr %p, i32 1, i32 %x {scope} {order} {failure}
  %old = extractvalue {{ i32, i1 }} %pair, 0
  %won = extractvalue {{ i32, i1 }} %pair, 1
  %w = zext i1 %won to i32
"""
            ir = kernel(body + keep("i32 %old", "i32 %w"))
            found.append(Construct(f"cmpxchg {order}, {short}", ir, (expected,), host=on_host))
        for order, expected in (
            ("monotonic", rf"ld\.relaxed\.{short}\.global\.b32"),
            ("acquire", rf"ld\.acquire\.{short}\.global\.b32"),
            ("seq_cst", rf"fence\.sc\.{short};\s+ld\.acquire\.{short}\.global\.b32"),
        ):
            body = f"  %r = load atomic i32, ptr %p {scope} {order}, align 4\n" + keep("i32 %r")
            found.append(Construct(f"atomic load {order}, {short}", kernel(body), (expected,), host=on_host))
        for order, expected in (
            ("monotonic", rf"st\.relaxed\.{short}\.global\.b32"),
            ("release", rf"st\.release\.{short}\.global\.b32"),
            ("seq_cst", rf"fence\.sc\.{short};\s+st\.release\.{short}\.global\.b32"),
        ):
            body = f"  store atomic i32 %x, ptr %p {scope} {order}, align 4"
            found.append(Construct(f"atomic store {order}, {short}", kernel(body), (expected,), host=on_host))
    return found


def floating_point() -> list[Construct]:
    found = []
    for kind, short in FLOATS.items():
        v = f"{kind} %{kind[0]}"
        for operation, expected in (
            ("sqrt", rf"sqrt\.rn\.{short}"),
            ("floor", rf"cvt\.rmi\.{short}\.{short}"),
            ("ceil", rf"cvt\.rpi\.{short}\.{short}"),
            ("trunc", rf"cvt\.rzi\.{short}\.{short}"),
            ("rint", rf"cvt\.rni\.{short}\.{short}"),
            ("fabs", rf"abs\.{short}"),
        ):
            found.append(
                Construct(f"{operation} {short}", calls(f"{kind} @llvm.{operation}.{short}({v})"), (expected,))
            )
        found.append(
            Construct(f"fma {short}", calls(f"{kind} @llvm.fma.{short}({v}, {v}, {v})"), (rf"fma\.rn\.{short}",))
        )
        sign = calls(
            f"{kind} @llvm.copysign.{short}({v}, {kind} -1.0)", f"{kind} @llvm.copysign.{short}({kind} 2.0, {v})"
        )
        found.append(Construct(f"copysign {short}", sign, (rf"copysign\.{short}",)))
        plain = f"""
  %u = load volatile {kind}, ptr %p
  %m = fmul {v}, %u
  %s = fadd {kind} %m, %u
  %n = fneg {kind} %s
  %t = fsub {kind} %n, {v.split()[1]}
  %q = fdiv {kind} %t, %u
"""
        unfused = tuple(rf"{operation}\.rn\.{short}" for operation in ("mul", "add", "sub", "div"))
        found.append(
            Construct(f"arithmetic {short}", kernel(plain + keep(f"{kind} %q")), unfused, not_ptx=("fma", "ftz"))
        )
        for width in WIDTHS:
            for sign_letter in "su":
                name = f"fpto{sign_letter}i.sat.i{width}.{short}"
                found.append(
                    Construct(name, calls(f"i{width} @llvm.{name}({v})"), (rf"cvt\.rzi\.{sign_letter}\d+\.{short}",))
                )
    body = """
  %narrow = fptrunc double %d to float
  %wide = fpext float %f to double
  %a = sitofp i32 %x to float
  %b = uitofp i32 %x to float
  %c = sitofp i64 %y to double
  %e = uitofp i64 %y to double
"""
    ir = kernel(body + keep("float %narrow", "double %wide", "float %a", "float %b", "double %c", "double %e"))
    expected = (r"cvt\.rn\.f32\.f64", r"cvt\.f64\.f32", r"cvt\.rn\.f32\.s32", r"cvt\.rn\.f32\.u32")
    found.append(Construct("float conversions", ir, (*expected, r"cvt\.rn\.f64\.s64", r"cvt\.rn\.f64\.u64")))
    return found


def integers() -> list[Construct]:
    found = []
    for width in WIDTHS:
        body = f"  %u = load volatile i{width}, ptr %p\n  %v = load volatile i{width}, ptr %p\n"
        operations = ("sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr")
        body += "".join(f"  %{operation} = {operation} i{width} %u, %v\n" for operation in operations)
        found.append(Construct(f"division i{width}", kernel(body + keep(*(f"i{width} %{o}" for o in operations)))))
    for kind, value in (("i32", "%x"), ("i64", "%y")):
        bits = calls(
            f"{kind} @llvm.ctpop.{kind}({kind} {value})",
            f"{kind} @llvm.ctlz.{kind}({kind} {value}, i1 false)",
            f"{kind} @llvm.cttz.{kind}({kind} {value}, i1 false)",
            f"{kind} @llvm.bswap.{kind}({kind} {value})",
            f"{kind} @llvm.fshl.{kind}({kind} {value}, {kind} {value}, {kind} 7)",
            f"{kind} @llvm.fshr.{kind}({kind} {value}, {kind} {value}, {kind} {value})",
        )
        found.append(
            Construct(f"bit counts, byte swap and rotates {kind}", bits, (r"popc\.b", r"clz\.b", r"prmt\.b32"))
        )
    for extension, opcode in (("zext", r"mul\.hi\.u64"), ("sext", r"mul\.hi\.s64")):
        body = f"""
  %v = load volatile i64, ptr %p
  %a = {extension} i64 %y to i128
  %b = {extension} i64 %v to i128
  %ab = mul i128 %a, %b
  %shifted = lshr i128 %ab, 64
  %high = trunc i128 %shifted to i64
"""
        found.append(Construct(f"high half of a product, {extension}", kernel(body + keep("i64 %high")), (opcode,)))
    return found


SHARED = """
@tile = internal addrspace(3) global [64 x i32] undef, align 16
define internal void @put(ptr %q, i32 %x) noinline {
  store volatile i32 %x, ptr %q
  ret void
}
"""
CONSTANTS = "@primes = internal addrspace(1) constant [4 x i32] [i32 2, i32 3, i32 5, i32 7]\n"
DIE = """
define internal void @die(ptr %p, i32 %x) noinline cold noreturn nounwind {
  store i32 %x, ptr %p
  call void asm sideeffect "exit;", "~{memory}"()
  unreachable
}
"""
PAIR = """
define internal { i32, double } @pair(i32 %x, double %d) noinline {
  %a = insertvalue { i32, double } poison, i32 %x, 0
  %b = insertvalue { i32, double } %a, double %d, 1
  ret { i32, double } %b
}
"""
RECURSION = """
define internal i32 @fib(i32 %n) noinline {
  %small = icmp ult i32 %n, 2
  br i1 %small, label %leaf, label %more
leaf:
  ret i32 %n
more:
  %a = sub i32 %n, 1
  %b = sub i32 %n, 2
  %fa = call i32 @fib(i32 %a)
  %fb = call i32 @fib(i32 %b)
  %s = add i32 %fa, %fb
  ret i32 %s
}
"""
TABLE = """
define internal i32 @one(i32 %x) {
  %r = add i32 %x, 1
  ret i32 %r
}
define internal i32 @two(i32 %x) {
  %r = mul i32 %x, %x
  ret i32 %r
}
@functions = internal addrspace(1) constant [2 x ptr] [ptr @one, ptr @two]
"""
SWITCH = """
  switch i32 %x, label %none [ i32 0, label %a  i32 1, label %b  i32 2, label %c  i32 3, label %d4  i32 9, label %e ]
a:
  br label %none
b:
  br label %none
c:
  br label %none
d4:
  br label %none
e:
  br label %none
none:
  %r = phi i32 [ 17, %entry ], [ 4, %a ], [ 99, %b ], [ 3, %c ], [ 1000, %d4 ], [ 7, %e ]
"""
MEMORY = "\n".join(
    f"declare void @llvm.{name}(ptr, {kind}, i64, i1)"
    for name, kind in (("memcpy.p0.p0.i64", "ptr"), ("memmove.p0.p0.i64", "ptr"), ("memset.p0.i64", "i8"))
)
# The branches before the barrier and after it are the same: without `convergent` O3 makes a copy for each way.
THREADED = """
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.all(i32)
define internal void @sync() convergent noinline {
  call void @llvm.nvvm.barrier.cta.sync.all(i32 0)
  ret void
}
define KERNEL void @k(ptr %p) convergent {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %t, 0
  br i1 %first, label %a, label %meet
a:
  store volatile i32 1, ptr %p
  br label %meet
meet:
  call void @sync() convergent
  br i1 %first, label %b, label %done
b:
  store volatile i32 2, ptr %p
  br label %done
done:
  ret void
}
"""
SWITCH_STACKS = {
    "x86_64": "pushq %rbp\\0Amovq %rsp, (%rdi)\\0Amovq %rsi, %rsp\\0Apopq %rbp\\0Aretq",
    "aarch64": "mov x9, sp\\0Astr x9, [x0]\\0Amov sp, x1\\0Aret",
}
SWITCH_STACKS["arm64"] = SWITCH_STACKS["aarch64"]

NOALIAS = """
define KERNEL void @k(ptr noalias %p, ptr noalias %q, i32 %x) {
  %a = getelementptr i32, ptr %p, i32 %x
  %v = load i32, ptr %a
  %w = add i32 %v, 1
  %b = getelementptr i32, ptr %q, i32 %x
  store i32 %w, ptr %b
  ret void
}
"""
NOALIAS_ATOMIC = """
define KERNEL void @k(ptr noalias %p, ptr noalias %q) {
  %v = load atomic i32, ptr %p monotonic, align 4
  store i32 %v, ptr %q
  ret void
}
"""

OTHERS = [
    Construct("ptx_kernel", kernel(""), (r"\.visible \.entry k\(",)),
    Construct("noalias pointers", NOALIAS, (r"ld\.global\.nc\.b32", r"st\.global\.b32")),
    Construct("pointers that may alias", NOALIAS.replace("noalias", ""), (r"ld\.global\.b32",), not_ptx=(r"\.nc\b",)),
    Construct(
        "shared globals as generic pointers",
        kernel(
            """
  %generic = addrspacecast ptr addrspace(3) @tile to ptr
  %q = getelementptr i32, ptr %generic, i32 %x
  call void @put(ptr %q, i32 %x)
""",
            SHARED,
        ),
        (r"\.shared \.align 16 \.b8 tile\[256\]", r"cvta\.shared\.u64"),
        host=False,
    ),
    Construct(
        "constant arrays in addrspace(1)",
        kernel(
            """
  %q = getelementptr i32, ptr addrspacecast (ptr addrspace(1) @primes to ptr), i32 %x
  %r = load i32, ptr %q
"""
            + keep("i32 %r"),
            CONSTANTS,
        ),
        (r"\.global \.align 4 \.b8 primes\[16\]", r"ld\.global"),
    ),
    Construct(
        "barrier that may be met diverged",
        calls("void @llvm.nvvm.barrier.cta.sync.all(i32 0)"),
        (r"barrier\.sync\s+0;",),
        not_ptx=(r"\bbar\.sync", r"aligned"),
        host=False,
    ),
    Construct(
        "barrier before which the threads of a warp meet",
        calls("void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"),
        (r"\tbar\.sync\s+0;",),
        host=False,
    ),
    Construct(
        "groups of which one is enough for a processor",
        kernel(keep("i32 %x")).replace(") {", ') "nvvm.maxntid"="1024" "nvvm.minctasm"="1" {'),
        (r"\.maxntid 1024\n\.minnctapersm 1\n",),
        host=False,
    ),
    Construct(
        "ballot", calls("i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 true)"), (r"vote\.sync\.ballot\.b32",), host=False
    ),
    *(
        Construct(
            f"shuffle {mode}",
            calls(f"i32 @llvm.nvvm.shfl.sync.{mode}.i32(i32 -1, i32 %x, i32 1, i32 {clamp})"),
            (rf"shfl\.sync\.{mode}\.b32",),
            host=False,
        )
        for mode, clamp in (("idx", 31), ("bfly", 31), ("up", 0), ("down", 31))
    ),
    Construct("warp barrier", calls("void @llvm.nvvm.bar.warp.sync(i32 -1)"), (r"bar\.warp\.sync",), host=False),
    Construct("nanosleep", calls("void @llvm.nvvm.nanosleep(i32 %x)"), (r"nanosleep\.u32",), host=False),
    Construct(
        "clocks",
        calls("i64 @llvm.nvvm.read.ptx.sreg.clock64()", "i64 @llvm.nvvm.read.ptx.sreg.globaltimer()"),
        (r"%clock64", r"%globaltimer"),
        host=False,
    ),
    Construct(
        "thread and group numbers",
        calls(
            *(f"i32 @llvm.nvvm.read.ptx.sreg.{name}()" for name in ("tid.x", "ntid.x", "ctaid.x", "nctaid.x", "laneid"))
        ),
        (r"%tid\.x", r"%ntid\.x", r"%ctaid\.x", r"%nctaid\.x", r"%laneid"),
        host=False,
    ),
    Construct("a convergent call is not duplicated", THREADED, (r"barrier\.sync",), host=False),
    Construct(
        "nor one that has warps meet", THREADED.replace("sync.all", "sync.aligned.all"), (r"\tbar\.sync",), host=False
    ),
    Construct(
        "a cold exit that never returns",
        kernel(
            """
  %bad = icmp ugt i32 %x, 7
  br i1 %bad, label %trap, label %good, !prof !0
trap:
  call void @die(ptr %p, i32 %x)
  unreachable
good:
"""
            + keep("i32 %x"),
            '!0 = !{!"branch_weights", i32 1, i32 2000}' + DIE,
        ),
        (r"\.noreturn", r"\bexit;"),
        host=False,
    ),
    Construct(
        "first-class struct returns",
        kernel(
            """
  %t = call { i32, double } @pair(i32 %x, double %d)
  %a = extractvalue { i32, double } %t, 0
  %b = extractvalue { i32, double } %t, 1
"""
            + keep("i32 %a", "double %b"),
            PAIR,
        ),
    ),
    Construct("recursion", kernel("  %r = call i32 @fib(i32 %x)\n" + keep("i32 %r"), RECURSION)),
    Construct(
        "indirect calls",
        kernel(
            """
  %q = getelementptr ptr, ptr addrspace(1) @functions, i32 %x
  %callee = load ptr, ptr addrspace(1) %q
  %r = call i32 %callee(i32 %x)
"""
            + keep("i32 %r"),
            TABLE,
        ),
        (r"prototype_\d+",),
    ),
    Construct(
        "arrays on the stack",
        kernel(
            """
  %a = alloca [100 x i32], align 4
  %q = getelementptr i32, ptr %a, i32 %x
  store volatile i32 %x, ptr %q
  %i = load volatile i32, ptr %a
  %o = getelementptr i32, ptr %a, i32 %i
  %r = load volatile i32, ptr %o
"""
            + keep("i32 %r")
        ),
        (r"\.local \.align \d+ \.b8",),
    ),
    Construct("switch", kernel(SWITCH + keep("i32 %r"))),
    Construct(
        "memory intrinsics of constant and run-time size",
        kernel(
            """
  %q = load volatile ptr, ptr %p
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 64, i1 false)
  call void @llvm.memset.p0.i64(ptr %q, i8 7, i64 64, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %y, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr %p, ptr %q, i64 %y, i1 false)
  call void @llvm.memset.p0.i64(ptr %q, i8 0, i64 %y, i1 false)
""",
            MEMORY,
        ),
    ),
    Construct(
        "naked functions with inline assembly",
        "define void @switch_stacks(ptr %save, ptr %next) naked noinline nounwind {\n"
        f'  call void asm sideeffect "{SWITCH_STACKS[platform.machine()]}", ""()\n  unreachable\n}}\n',
        gpu=False,
    ),
]

CONSTRUCTS = [*atomics(), *orderings(), *floating_point(), *integers(), *OTHERS]
ON_GPU = [construct for construct in CONSTRUCTS if construct.gpu]


@pytest.fixture(scope="module")
def ptx() -> dict[str, str]:
    """The PTX of all constructs, made by workers: an abort must show as the failure of one test."""
    with WorkerPool() as pool:
        outcomes = pool.compile([Job(construct.text(GPU), GPU, construct.name) for construct in ON_GPU], cache=None)
    return {c.name: o.decode() if isinstance(o, bytes) else f"// {o}" for c, o in zip(ON_GPU, outcomes, strict=True)}


@pytest.mark.parametrize("construct", [c for c in CONSTRUCTS if c.host], ids=lambda construct: construct.name)
def test_the_host_compiles(construct: Construct) -> None:
    assert compile_module(construct.text(Target.host()), Target.host(), name=construct.name, cache=None).code


@pytest.mark.parametrize("construct", ON_GPU, ids=lambda construct: construct.name)
def test_ptx_has_what_was_meant(construct: Construct, ptx: dict[str, str]) -> None:
    text = ptx[construct.name]
    assert ".entry k(" in text, text
    for expected in construct.ptx:
        assert re.search(expected, text), text
    for unwanted in construct.not_ptx:
        assert not re.search(unwanted, text), text


def test_every_construct_has_its_own_name() -> None:
    assert len({construct.name for construct in CONSTRUCTS}) == len(CONSTRUCTS)


@pytest.mark.skipif(find_ptxas() is None, reason="needs ptxas of the CUDA toolkit")
def test_ptxas_takes_all_constructs() -> None:
    """One module of all snippets, for a start of ptxas each would take most of the time of these tests."""
    declarations: dict[str, None] = {}
    rest: list[str] = []
    for construct in ON_GPU:
        slug = re.sub(r"\W+", "_", construct.name)
        for line in construct.text(GPU).splitlines():
            if line.startswith("declare"):
                declarations[line] = None
            else:
                rest.append(re.sub(r"@(?!llvm\.)(\w+)", rf"@\1_{slug}", line))
    code = compile_module("\n".join([*declarations, *rest]), GPU, cache=None).code
    kernels = assemble(code, 90).kernels
    assert len(kernels) == len(ON_GPU)
    assert kernels["k_shared_globals_as_generic_pointers"].shared_bytes == 256
    assert kernels["k_arrays_on_the_stack"].stack_bytes == 400


def test_convergent_keeps_one_copy_of_a_call(ptx: dict[str, str]) -> None:
    copies = re.compile(r"\tcall[.\w]* ")
    for name in ("a convergent call is not duplicated", "nor one that has warps meet"):
        assert len(copies.findall(ptx[name])) == 1
    barrier = "call void @llvm.nvvm.barrier.cta.sync.all(i32 0)"
    careless = THREADED.replace("convergent", "").replace(barrier, "store volatile i32 0, ptr null")
    text = stages(careless.replace("KERNEL", "ptx_kernel"), GPU)["ptx"]
    assert len(copies.findall(text)) == 2, "this snippet no longer shows what `convergent` is for"


WEAKENED = {
    # PTX that names no ordering and no scope is relaxed and gpu-wide, even for seq_cst: hence the explicit fences.
    "atomicrmw": (
        kernel("  %r = atomicrmw add ptr %p, i32 %x seq_cst\n" + keep("i32 %r")),
        r"\tatom\.global\.add\.u32 ",
    ),
    # x - trunc(x / y) * y, which is wrong where the quotient has more bits than the type.
    "frem": (kernel("  %r = frem float %f, 3.0\n" + keep("float %r")), r"div\.rn\.f32[^$]*cvt\.rzi[^$]*fma\.rn\.f32"),
    "exp2": (calls("float @llvm.exp2.f32(float %f)"), r"ex2\.approx\.f32"),
    # Fused on the GPU; on the host that depends on the CPU.
    "fmuladd": (calls("float @llvm.fmuladd.f32(float %f, float %f, float 1.0)"), r"fma\.rn\.f32"),
}


@pytest.mark.parametrize("name", WEAKENED)
def test_what_the_gpu_does_less_well_than_llvm_promises_is_known(name: str) -> None:
    ir, expected = WEAKENED[name]
    text = stages(ir.replace("KERNEL", "ptx_kernel"), GPU)["ptx"]
    assert re.search(expected, text), f"{name} comes out differently now: see whether it can be used\n{text}"
    assert "fence" not in text


def run_on_host(ir: str, *exports: str) -> Library:
    return load_object(compile_module(ir, Target.host(), cache=None).code, exports)


def test_the_host_does_not_fuse_a_product_and_a_sum() -> None:
    library = run_on_host(
        "define double @f(double %a, double %b, double %c) {\n"
        "  %m = fmul double %a, %b\n  %r = fadd double %m, %c\n  ret double %r\n}\n",
        "f",
    )
    mul_add = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 3)(library.address("f"))
    a = 1 + 2.0**-30
    assert a * a - 1 - 2.0**-29 == 0.0  # the last bit is rounded away before the sum; fused it would be 2**-60
    assert mul_add(a, a, -1 - 2.0**-29) == 0.0


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("signed", [True, False])
def test_saturating_conversions_of_the_host_follow_the_reference(kind: str, width: int, signed: bool) -> None:
    intrinsic = f"i{width} @llvm.fpto{'s' if signed else 'u'}i.sat.i{width}.{FLOATS[kind]}({kind}"
    library = run_on_host(
        f"declare {intrinsic})\ndefine i{width} @f({kind} %v) {{\n  %r = call {intrinsic} %v)\n  ret i{width} %r\n}}\n",
        "f",
    )
    result = getattr(ctypes, f"c_{'' if signed else 'u'}int{width}")
    convert = ctypes.CFUNCTYPE(result, ctypes.c_float if kind == "float" else ctypes.c_double)(library.address("f"))
    low, high = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    for value in (0.0, -0.0, 1.5, -1.5, 126.75, 1e30, -1e30, math.inf, -math.inf, 2.0 ** (width - 1), 2.0**width):
        expected = high if value == math.inf else low if value == -math.inf else min(max(int(value), low), high)
        assert convert(value) == expected, value
    assert convert(math.nan) == 0


def unary(intrinsic: str) -> str:
    return calls(f"float @llvm.{intrinsic}.f32(float %f)")


TRANSCENDENTALS = ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "tanh")
KNOWN_FAILURES = {
    **{name: (unary(name), f"f{name}") for name in TRANSCENDENTALS},
    "pow": (calls("float @llvm.pow.f32(float %f, float %f)"), "fpow"),
    "indirectbr": (
        kernel(
            """
  %q = getelementptr ptr, ptr addrspace(1) @labels, i32 %x
  %label = load ptr, ptr addrspace(1) %q
  indirectbr ptr %label, [ label %a, label %b ]
a:
  store volatile i32 1, ptr %p
  ret void
b:
""",
            "@labels = internal addrspace(1) constant [2 x ptr] [ptr blockaddress(@k, %a), ptr blockaddress(@k, %b)]",
        ),
        "brind",
    ),
    "128-bit cmpxchg": (
        kernel("  %r = cmpxchg ptr %p, i128 1, i128 2 monotonic monotonic"),
        "unsupported cmpxchg",
    ),
    "atomic load through noalias": (NOALIAS_ATOMIC, "signal"),
    "syncscope of an unknown name": (kernel('  fence syncscope("system") seq_cst'), "does not support syncscope"),
}


def test_what_llvm_cannot_compile_for_the_gpu_is_known_and_ends_only_a_worker() -> None:
    jobs = [Job(ir.replace("KERNEL", "ptx_kernel"), GPU, name) for name, (ir, _) in KNOWN_FAILURES.items()]
    with WorkerPool() as pool:
        outcomes = pool.compile(jobs, cache=None)
    for (name, (_, words)), outcome in zip(KNOWN_FAILURES.items(), outcomes, strict=True):
        assert isinstance(outcome, CompileError), f"{name} compiles now: take it off the list"
        assert re.match(rf"{name}: (LLVM gave up: |the compile worker died )", str(outcome))
        assert words in str(outcome)
