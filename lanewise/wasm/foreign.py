"""Recognises what people bring instead of a module that Lanewise runs, and says what to build instead."""

from __future__ import annotations

from lanewise.wasm.describe import shown_name
from lanewise.wasm.model import ExternType, FuncType

WASIP1 = "build for wasm32-wasip1 (Rust: --target wasm32-wasip1; C: clang --target=wasm32-wasi, or wasi-sdk)"
UNKNOWN = "or for wasm32-unknown-unknown"

CUT_SHORT = "was it written to the end?"

WIDE_MEMORY = (
    "64-bit memory (memory64): Lanewise runs 32-bit memories; build for wasm32 instead of wasm64, "
    "with Emscripten without -sMEMORY64"
)
WIDE_TABLE = "64-bit table (memory64, table64): Lanewise runs 32-bit tables; build for wasm32 instead of wasm64"
PAGE_SIZES = (
    "custom page sizes (the proposal custom-page-sizes): Lanewise does not support them; build for pages of 64 KiB, "
    "without (pagesize ...)"
)
STACK_SWITCHING = "stack switching (continuations): Lanewise does not support it; build without that feature"
SHARED_TYPES = (
    "shared types (the proposal shared-everything-threads): Lanewise does not support them; build without that feature"
)
REFERENCES = "typed function references: Lanewise does not run these; build without that feature"
COLLECTED = (
    "garbage-collected types (WasmGC, used by Kotlin, Dart, Java and OCaml): Lanewise runs modules that keep their "
    "data in linear memory; build for wasm32 without GC"
)
OLD_EXCEPTIONS = (
    "exception handling in its old form (try, catch, rethrow): Lanewise runs the final form (try_table); build with "
    "-mllvm -wasm-use-legacy-eh=false, or translate with wasm-opt --translate-to-exnref"
)

_STARTS: tuple[tuple[bytes, str], ...] = (
    (
        b"\x7fELF",
        f"this is an ELF file, a program or library in machine code; {WASIP1} {UNKNOWN}; a static one for AArch64 "
        "Linux runs by gpu-run and lanewise.run",
    ),
    (b"MZ", f"this is a Windows program; {WASIP1} {UNKNOWN}"),
    (b"\xcf\xfa\xed\xfe", f"this is a Mach-O file, a program for macOS; {WASIP1} {UNKNOWN}"),
    (b"\xca\xfe\xba\xbe", f"this is a macOS program or Java bytecode; {WASIP1} {UNKNOWN}"),
    (b"!<arch>", f"this is an archive of object files (a static library); link it into a module: {WASIP1}"),
    (b"PK\x03\x04", "this is a zip archive; unpack it and give the .wasm file inside"),
    (b"\x1f\x8b", "this is a gzip file; unpack it with gunzip and give the .wasm file"),
    (b"\x28\xb5\x2f\xfd", "this is a Zstandard file; unpack it with unzstd and give the .wasm file"),
    (b"BC\xc0\xde", f"this is LLVM bitcode; compile and link it: {WASIP1}"),
    (b"\xde\xc0\x17\x0b", f"this is LLVM bitcode in a wrapper; compile and link it: {WASIP1}"),
    (b"version https://git-lfs", "this is a Git LFS pointer; fetch the file itself with git lfs pull"),
)

_COMPONENT = (
    "this is a component (WASI 0.2, wasm32-wasip2); Lanewise runs core modules: build for wasm32-wasip1, or take the "
    "core module out with wasm-tools component unbundle"
)


def explain_bytes(data: bytes) -> str:
    """Say what the bytes are that should have been a module, or "" if there is nothing to be said."""
    if not data:
        return f"the file is empty; {CUT_SHORT}"
    for start, explanation in _STARTS:
        if data.startswith(start):
            return explanation
    if data.startswith(b"\0asm"):
        return _COMPONENT if data[4:8] == b"\x0d\x00\x01\x00" else ""
    return _explain_text(data[:4096])


def _explain_text(head: bytes) -> str:
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    while text.startswith((";;", "(;")):
        # What a comment of the text format leaves: up to the end of the line, or up to ;).
        text = text.partition("\n" if text.startswith(";;") else ";)")[2].lstrip()
    if text.startswith("(module"):
        return "this is the text format; translate it with wat2wasm or wasm-tools parse"
    if text.startswith("(component"):
        return f"this is a component in the text format; Lanewise runs core modules: {WASIP1}"
    lowered = text[:256].lower()
    if lowered.startswith(("<!doctype", "<html", "<?xml")):
        return "this is a web page; was a download answered with an error page?"
    words = ("import ", "export ", "var ", "let ", "const ", "function", "//", "/*", '"use strict"', "'use strict'")
    if text.startswith(words) or "WebAssembly.instantiate" in text:
        return f"this is JavaScript or other source text; give the .wasm file that belongs to it, or {WASIP1}"
    if text.startswith("#!"):
        return f"this is a script; {WASIP1}"
    return ""


_BINDGEN_MODULES = ("wbg", "__wbindgen_placeholder__", "__wbindgen_externref_xform__")
_EMSCRIPTEN_STARTS = (
    *("emscripten_", "_emscripten_", "__emscripten_", "invoke_", "__cxa_", "__syscall_", "_embind_", "_emval_"),
    *("em_js_", "__asyncjs__", "jsCall_", "nullFunc_"),
)
_EMSCRIPTEN_NAMES = (
    *("setTempRet0", "getTempRet0", "__resumeException", "llvm_eh_typeid_for", "abortOnCannotGrowMemory"),
    *("__throw_exception_with_stack_trace", "__handle_stack_overflow", "__call_sighandler", "segfault", "alignfault"),
    *("__assert_fail", "abortStackOverflow"),
)
_DYNAMIC = ("__memory_base", "__table_base", "__stack_pointer")
_REACTOR = "build a library that needs none (C: -mexec-model=reactor; Rust: wasm32-unknown-unknown)"


def explain_import(module: str, name: str, kind: ExternType | None = None) -> str:
    """Say which family an import belongs to and what to build for instead, or "" if it is none that is known.

    `kind` is its type, where that is known: some families share names.
    """
    named = f"{shown_name(module)}.{shown_name(name)}"
    if _is_bindgen(module, name):
        return f"{named} is the JavaScript glue of wasm-bindgen; {WASIP1}, without wasm-bindgen"
    if module == "wasi_unstable":
        return f"{named} is WASI preview 0, which ended in 2019; {WASIP1}"
    if module == "wasi_snapshot_preview1" or (module, name) == ("wasi", "thread-spawn"):
        what = "WASI preview 1" if module != "wasi" else "wasi-threads"
        return (
            f"{named} is {what}, which instantiate and func do not give: run a program with lanewise.run or gpu-run, "
            f"give instantiate a Python function for it, or {_REACTOR}"
        )
    if module.startswith("wasi:"):
        return f"{shown_name(module)} is an interface of WASI 0.2 or later; {WASIP1}"
    if module.startswith("wasix_"):
        return f"{named} is WASIX; {WASIP1}"
    if _is_emscripten(module, name):
        return f"{named} is what Emscripten's JavaScript gives; build with -sSTANDALONE_WASM -sPURE_WASI, or {WASIP1}"
    if module in ("gojs", "go"):
        return f"{named} is Go's JavaScript glue; build with GOOS=wasip1 GOARCH=wasm"
    if module in ("GOT.func", "GOT.mem") or (module == "env" and name in _DYNAMIC):
        return f"{named} is for dynamic linking; link a module that stands alone, without -shared and -sSIDE_MODULE"
    if (module, name) == ("env", "abort"):
        if kind is None or (isinstance(kind, FuncType) and kind == FuncType(("i32",) * 4, ())):
            return "env.abort is AssemblyScript's; build with --use abort= to do without it"
        if kind == FuncType((), ()):
            given = "which Emscripten's JavaScript gives and -nostdlib leaves out"
            return f"env.abort is C's, {given}; define it, or {WASIP1}"
    return ""


def _is_bindgen(module: str, name: str) -> bool:
    # wasm-pack names the module after its file, as in ./game_bg.js; code in JavaScript of a crate is in snippets.
    files = module.endswith("_bg.js") or module.startswith("./snippets/")
    return module in _BINDGEN_MODULES or files or name.startswith("__wbg_") or "__wbindgen" in name


def _is_emscripten(module: str, name: str) -> bool:
    if module == "a":  # as its optimiser shortens all names
        return len(name) <= 2
    script = name.startswith("_") and name.endswith("_js")
    return module == "env" and (name.startswith(_EMSCRIPTEN_STARTS) or name in _EMSCRIPTEN_NAMES or script)


def unsupported_opcode(code: int) -> str:
    """Say which feature that Lanewise does not run an opcode belongs to, or "" if it belongs to none."""
    if code in (0x06, 0x07, 0x09, 0x18, 0x19):
        return OLD_EXCEPTIONS
    if code in (0x14, 0x15, 0xD4, 0xD5, 0xD6):
        return REFERENCES
    if code == 0xD3 or code >> 16 == 0xFB:
        return COLLECTED
    if 0xFD0100 <= code <= 0xFD012F:
        return "relaxed SIMD: Lanewise does not run it; build without -mrelaxed-simd"
    if 0xE0 <= code <= 0xE6:
        return STACK_SWITCHING
    if 0xFC0013 <= code <= 0xFC0016:
        return "wide arithmetic: Lanewise does not run it; build without -mwide-arithmetic"
    return ""


def unsupported_type(code: int) -> str:
    """Say which feature that Lanewise does not run the byte of a type belongs to, or "" if it belongs to none."""
    if code in (0x63, 0x64):
        return REFERENCES
    if code == 0x65:
        return SHARED_TYPES
    if code in (0x5D, 0x68, 0x75):
        return STACK_SWITCHING
    return COLLECTED if code in (*range(0x6A, 0x6F), *range(0x71, 0x75), 0x77, 0x78) else ""
