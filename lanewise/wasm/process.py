"""Whole programs as lane programs: an element is a run of the program on a fresh instance, over the kernel."""

from __future__ import annotations

from lanewise.errors import LinkError
from lanewise.kernel.lane_io import LaneIo
from lanewise.wasm.build import Build
from lanewise.wasm.lanes import LANES_IO, RUN_IO, LaneProgram, word
from lanewise.wasm.lowering import FunctionLowering
from lanewise.wasm.model import FuncType, Module
from lanewise.wasm.provided import IO

_ENTRIES = ("_start", "main")
_TYPES = (FuncType((), ()), FuncType((), ("i32",)))


def entry_of(module: Module) -> int:
    """The function that a program begins with: `_start`, else `main`."""
    exported = {one.name: one.index for one in module.exports if one.kind == "function"}
    for name in _ENTRIES:
        if name in exported:
            kind = module.functions[exported[name]]
            if kind not in _TYPES:
                raise LinkError(f"the program's {name} is {kind}; it must take nothing and return nothing or an i32")
            return exported[name]
    have = ", ".join(exported) or "none"
    raise LinkError(
        f"the module is no program: it exports no function _start or main; the functions it exports: {have}"
    )


class ProcessProgram(LaneProgram):
    """The code of a program for many lanes. Its module has been given the kernel's functions, see `provide`."""

    def __init__(self, module: Module, build: Build) -> None:
        self._returns = bool(module.functions[entry_of(module)].results)
        super().__init__(module, entry_of(module), build, ())

    @property
    def plain(self) -> bool:
        """Every lane is a process, even if it does nothing."""
        return False

    @property
    def changes_nothing(self) -> bool:
        return False

    def _pointers(self) -> list[str]:
        return []

    def _pointer_arguments(self) -> str:
        return ""

    def _load_pointers(self) -> str:
        return ""

    def _apply(self, fn: FunctionLowering, memory: str) -> None:
        self._call(fn, memory)
        if self._returns:
            io = fn.load_cell(IO, "ptr")
            code = fn.assign(f"getelementptr i8, ptr {io}, i64 {LaneIo.offsets['exit_code']}")
            fn.emit(f"store i32 {fn.pop()}, ptr {code}, align 4")

    def _begin(self, fn: FunctionLowering) -> None:
        fn.emit(f"call void @kernel_begin(ptr {fn.load_cell(IO, 'ptr')}, i64 %i)")

    def _end(self, fn: FunctionLowering) -> None:
        fn.emit(f"call void @kernel_end(ptr {fn.load_cell(IO, 'ptr')})")

    def _own(self, slot: str) -> str:
        return f"""{word(LANES_IO, "ios", "ptr")}{word(RUN_IO, "run_io", "ptr")}
  %io_offset = mul i64 {slot}, {LaneIo.size}
  %io = getelementptr i8, ptr %ios, i64 %io_offset
  %io_run = getelementptr i8, ptr %io, i64 {LaneIo.offsets["run"]}
  store ptr %run_io, ptr %io_run, align 8
{self._set(IO, "%io", "ptr")}"""

    def _trapped(self) -> str:
        return "  call void @kernel_end(ptr %io)\n"

    def _declared(self) -> str:
        # On a GPU the exits of lanes call the kernel, so that it is declared with them.
        end = "" if self.build.gpu else "declare void @kernel_end(ptr)\n"
        return f"{end}declare void @kernel_begin(ptr, i64)\n"
