"""A store: instances on one device that may share memories, tables and globals and call each other."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lanewise.devices import Device
from lanewise.devices import device as find_device
from lanewise.devices.cpu_scheduler import FAULT_PLACE
from lanewise.errors import ArgumentError, WasmException, WasmTrap
from lanewise.wasm import state, traps
from lanewise.wasm.backend import Block, Outcome
from lanewise.wasm.backends import backend_for
from lanewise.wasm.build import checked_fuel, checked_level, checked_timeout
from lanewise.wasm.externs import Extern, Function, Global, Tag
from lanewise.wasm.guarded import GuardedMemory
from lanewise.wasm.host_functions import CALLBACK, NUMBER
from lanewise.wasm.instance import Instance
from lanewise.wasm.lane_setup import element_references, rules_used
from lanewise.wasm.lane_words import UNLIMITED
from lanewise.wasm.linking import match_imports
from lanewise.wasm.model import PAGE, FuncType, GlobalType, Module, TagType
from lanewise.wasm.places import function_at, readable
from lanewise.wasm.values import pack_bits, to_host, unpack_bits

_SHOWN_FRAMES = 16
"""How many of the calls that a trap was in are told."""


class Store:
    """Instances that live together."""

    def __init__(
        self, device: Device | str = "auto", *, fuel: int | None = None, timeout: float | None = None, **choices: Any
    ) -> None:
        self.device = device if isinstance(device, Device) else find_device(device)
        fuel, seconds, level = checked_fuel(fuel), checked_timeout(timeout), checked_level(choices.pop("level", None))
        self._backend = backend = backend_for(self.device, fuel=fuel, timeout=seconds, level=level, **choices)
        self.stride = self._stride = backend.build.stride
        self._fuel = fuel
        self._blocks: list[Any] = []
        self._loaded: list[Any] = []
        self._states: list[int] = []
        self._owners: list[Instance | None] = []
        self._entries: list[bytes] = [bytes(state.CODE_ENTRY)]
        self._firsts: list[int] = []
        self._host_grows = False
        """Whether the host has made a memory larger."""
        self._unclean = False
        """Whether a call did not come to its usual end: then it may have left something in common cells."""
        self._records_exceptions = self._holds_exceptions = False
        """Whether exceptions may need records, and whether these may be referred to by more than the calls of now."""
        self._groups: list[set[int]] = []
        """For each instance those that may call each other with it."""
        self._functions: dict[int, Function] = {}
        self._externs: list[Any] = [None]
        self._extern_numbers: dict[Any, int] = {}
        self._host: list[Callable[..., Any]] = []
        self._host_numbers: list[int] = []
        self._host_types: list[FuncType] = []
        self._host_error: BaseException | None = None
        self._host_threads: list[int] = []
        """Threads that are in a function of the host now, the innermost last."""
        self._tag_types: list[TagType] = []
        self._lock = threading.RLock()
        self._code = self._code_room = self._instances = self._instances_room = 0
        self._shared = self._new_state(state.RESULTS)
        self.write_cell(self._shared, state.SHARED, self._shared)
        self.write_cell(self._shared, state.STOP, self._backend.stop_word)
        records = self._keep(self._backend.alloc(state.EXCEPTION_CELLS * self._stride))
        self.write_cell(self._shared, state.EXCEPTIONS, records.address)

    # --- memory ------------------------------------------------------------------------------------------------------

    def _keep(self, block: Block) -> Block:
        self._blocks.append(block)
        return block

    def _new_state(self, cells: int) -> int:
        return self._keep(self._backend.alloc(cells * self._stride)).address

    def read_cell(self, base: int, number: int) -> int:
        """The 64 bits of a cell."""
        return int.from_bytes(self._backend.read(base + number * self._stride, 8), "little")

    def write_cell(self, base: int, number: int, value: int) -> None:
        """Set the 64 bits of a cell."""
        self._backend.write(base + number * self._stride, (value & (2**64 - 1)).to_bytes(8, "little"))

    def read_linear(self, base: int, address: int, nbytes: int) -> bytes:
        """Bytes of a linear memory."""
        if self._stride == 8:
            return self._backend.read(base + address, nbytes)
        first, last = address // 8, (address + nbytes + 7) // 8
        cells = self._backend.read(base + first * self._stride, max(0, (last - first) * self._stride))
        rows = np.frombuffer(cells, np.uint8).reshape(-1, self._stride)[:, :8]
        return rows.tobytes()[address - first * 8 :][:nbytes]

    def write_linear(self, base: int, address: int, data: bytes) -> None:
        """Set bytes of a linear memory."""
        if self._stride == 8:
            self._backend.write(base + address, data)
            return
        for at, byte in enumerate(data):
            where = address + at
            self._backend.write(base + where // 8 * self._stride + where % 8, bytes([byte]))

    def grow_linear(self, record: int, nbytes: int) -> bool:
        """Make a linear memory larger for the host; says whether its bound allows it."""
        # A function of the host that a guest called acts for whoever holds the lock.
        with self._turn():
            base, used, most = (self.read_cell(record, at) for at in range(state.MEMORY_RECORD))
            if used + nbytes > most:
                return False
            for block in self._blocks:
                if block.address == base and isinstance(block.owner, GuardedMemory):
                    block.owner.open((used + nbytes) * self._stride // 8)
            self._stop_fixing()
            self.write_cell(record, state.MEMORY_BYTES, used + nbytes)
            return True

    def _stop_fixing(self) -> None:
        """From now on memories are not what they began as: no code may take their sizes for constants."""
        if not self._host_grows:
            self._host_grows = True
            for group in {id(group): group for group in self._groups}.values():
                self._load_group(group)

    def linear_array(self, base: int, nbytes: int, owner: Any) -> np.ndarray[Any, Any]:
        """The bytes of a linear memory as an array: a view where the device's memory is the host's."""
        return self._backend.view(base, nbytes, owner) if self._stride == 8 else self._copy(base, nbytes)

    def _copy(self, base: int, nbytes: int) -> np.ndarray[Any, Any]:
        return np.frombuffer(self.read_linear(base, 0, nbytes), np.uint8)

    # --- references --------------------------------------------------------------------------------------------------

    def intern(self, value: Any) -> int:
        """The number that guests know a host value by."""
        key = (type(value), value) if isinstance(value, int | str | float | bytes) else id(value)
        if key not in self._extern_numbers:
            self._extern_numbers[key] = len(self._externs)
            self._externs.append(value)
        return self._extern_numbers[key]

    def interned(self, number: int) -> Any:
        """The host value behind a number."""
        return self._externs[number]

    def function_of(self, reference: int) -> Function:
        """The function that a reference stands for."""
        if reference not in self._functions:
            owner = self._owners[reference >> 32]
            assert owner is not None
            index = (reference & 0xFFFFFFFF) - 1 - self._firsts[reference >> 32] + owner.module.imported_functions
            name = readable(owner.module.function_name(index))
            self._functions[reference] = Function(self, reference, owner.module.functions[index], name)
        return self._functions[reference]

    # --- making things -----------------------------------------------------------------------------------------------

    def instantiate(self, module: Module, imports: Mapping[str, Any] | None = None) -> Instance:
        """Make an instance: find its imports, give it memory, run its start function.

        `imports` maps module names to instances or to mappings of names to what other instances export, to Python
        functions, or to numbers for constants. Raises LinkError or WasmTrap.
        """
        model = getattr(module, "model", module)
        if not isinstance(model, Module):
            raise ArgumentError(f"a store makes instances of modules, not of {type(module).__name__}; load it first")
        with self._turn():
            given = match_imports(self, model, imports or {})
            return self._begin(model, given)

    def _begin(self, module: Module, given: list[Extern]) -> Instance:
        tags = [tag.type.params for tag in module.tags]
        self._records_exceptions |= any(len(kinds) > 1 or kinds[0] not in ("i32", "f32") for kinds in tags if kinds)
        kept = [*(one.value for one in module.globals), *(table.element for table in module.tables)]
        self._holds_exceptions |= "exnref" in kept
        number = len(self._states)
        first = len(self._entries) - 1
        instance = Instance(self, module, self._state_of(module, given, number, first))
        self._add_state(instance.state, instance, first)
        self._entries += [bytes(state.CODE_ENTRY)] * (len(module.bodies) + 1)
        # Functions can travel by tables and globals, too: whoever shares anything may come to call each other.
        self._join([number, *(extern.number for extern in given if extern.number is not None)])
        instance.bind(given)
        self._run(number, first + len(module.bodies) + 1, FuncType((), ()), [])
        return instance

    def _add_state(self, address: int, owner: Instance | None, first: int) -> None:
        self._groups.append({len(self._states)})
        self._states.append(address)
        self._owners.append(owner)
        self._loaded.append(None)
        self._firsts.append(first)

    def _join(self, numbers: list[int]) -> None:
        """Have instances call each other, and tell guests where all functions are now."""
        group = set().union(*(self._groups[number] for number in numbers))
        if all(self._groups[number] is self._groups[numbers[0]] for number in numbers) and self._loaded[numbers[0]]:
            return
        for number in group:
            self._groups[number] = group
        self._load_group(group)

    def _load_group(self, group: set[int]) -> None:
        """Have the code of instances that may call each other."""
        members = [(number, owner) for number in sorted(group) if (owner := self._owners[number]) is not None]
        throws = any(owner.module.tags for _, owner in members)
        gpu = self._backend.build.gpu
        tails = gpu and any("return_call" in rule for _, owner in members for rule in rules_used(owner.module))
        if not members:
            return
        fixed = not self._host_grows and len(group) == 1 and not members[0][1].module.imports
        fixed = fixed and "memory.grow" not in rules_used(members[0][1].module)
        by_module = {owner.module.data: owner.module for _, owner in members}
        loaded = {data: self._backend.load(module, throws, tails, fixed) for data, module in by_module.items()}
        for number, owner in members:
            self._loaded[number] = loaded[owner.module.data]
        self._backend.link(list(loaded.values()))
        for number, _ in members:
            self._refresh(number)
        self._publish()

    def _refresh(self, number: int) -> None:
        """Read a module's function table into the store's."""
        raw, size = self._backend.table_of(self._loaded[number]), state.CODE_ENTRY
        first = self._firsts[number] + 1
        self._entries[first : first + len(raw) // size] = [raw[at : at + size] for at in range(0, len(raw), size)]

    def _publish(self) -> None:
        """Tell guests where functions and instances are, after some were added."""
        self._code, self._code_room = self._grown(self._code, self._code_room, b"".join(self._entries))
        states = np.array(self._states, np.uint64).tobytes()
        self._instances, self._instances_room = self._grown(self._instances, self._instances_room, states)
        self.write_cell(self._shared, state.CODE, self._code)
        self.write_cell(self._shared, state.INSTANCES, self._instances)

    def _grown(self, address: int, room: int, data: bytes) -> tuple[int, int]:
        """Write a table where it is or, once it has outgrown that, to twice the room; readers keep the old one."""
        if len(data) > room:
            room = 2 * len(data)
            address = self._keep(self._backend.alloc(room)).address
        self._backend.write(address, data)
        return address, room

    def _state_of(self, module: Module, given: list[Extern], number: int, first: int) -> int:
        """A new instance's state, with everything but what its own code sets."""
        layout = state.StateLayout(module)
        cells = np.zeros(layout.count, np.uint64)
        cells[state.SHARED] = self._shared
        cells[state.BASE] = number << 32 | first + 1
        data = self._keep(self._backend.alloc(len(module.data)))
        self._backend.write(data.address, module.data)
        cells[state.DATA] = data.address
        by_kind: dict[str, list[Any]] = {"function": [], "table": [], "memory": [], "global": [], "tag": []}
        for extern in given:
            by_kind[extern.kind].append(extern)
        for at, function in enumerate(by_kind["function"]):
            cells[layout.imported_functions + at] = function.reference
        for at, table in enumerate(by_kind["table"]):
            cells[layout.tables[at]] = table.record
        for at, memory in enumerate(by_kind["memory"]):
            cells[layout.memories[at]] = memory.record
        for at, one in enumerate(by_kind["global"]):
            cells[layout.globals[at]] = one.record
        for at, tag in enumerate(by_kind["tag"]):
            cells[layout.tags + at] = tag.number_in_store
        for at in range(module.imported_tags, len(module.tags)):
            self._tag_types.append(module.tags[at])
            cells[layout.tags + at] = len(self._tag_types)
        for at, kind in enumerate(module.memories[module.imported_memories :], module.imported_memories):
            largest = min(kind.limits.maximum if kind.limits.maximum is not None else 65536, 65536)
            block, maximum = self._backend.alloc_linear(kind.limits.minimum * PAGE, largest * PAGE)
            self._keep(block)
            cells[layout.memories[at] : layout.memories[at] + 3] = block.address, kind.limits.minimum * PAGE, maximum
        for at, table_kind in enumerate(module.tables[module.imported_tables :], module.imported_tables):
            limits = table_kind.limits
            block, most = self._backend.alloc_table(limits.minimum, 2**32 if limits.maximum is None else limits.maximum)
            self._keep(block)
            cells[layout.tables[at] : layout.tables[at] + 3] = block.address, limits.minimum, most
        if module.memories:
            cells[state.MEMORY] = by_kind["memory"][0].base if module.imported_memories else cells[layout.memories[0]]
        references = self._element_references(module, by_kind, number << 32 | first + 1)
        items = self._keep(self._backend.alloc(8 * len(references)))
        self._backend.write(items.address, np.array(references, np.uint64).tobytes())
        cells[state.ELEMENTS] = items.address
        address = self._new_state(layout.count)
        spread = np.zeros((layout.count, self._stride // 8), np.uint64)
        spread[:, 0] = cells
        self._backend.write(address, spread.tobytes())
        return address

    def _element_references(self, module: Module, given: Mapping[str, list[Any]], base: int) -> list[int]:
        return element_references(
            module,
            lambda index: (
                base + index - module.imported_functions
                if index >= module.imported_functions
                else int(given["function"][index].reference)
            ),
            lambda index: int(given["global"][index].raw),
        )

    def constant(self, kind: GlobalType, value: Any) -> Global:
        """A global that holds a number of the host's."""
        record = self._new_state(state.cells_of(kind.value))
        bits = to_host.bits_of(self, kind.value, value, "the constant")
        for at, word in enumerate(np.frombuffer(pack_bits((kind.value,), [bits]), np.uint64)):
            self.write_cell(record, at, int(word))
        return Global(self, record, kind)

    def host_function(self, kind: FuncType, function: Callable[..., Any], name: str = "host function") -> Function:
        """A Python function that instances can import; it is called on a worker thread, with Python numbers."""
        with self._turn():
            entry, callback = self._backend.host_entry(kind, self._call_host)
            number, first = len(self._states), len(self._entries) - 1
            widest = max(sum(map(state.cells_of, kinds)) for kinds in (kind.params, kind.results))
            address = self._new_state(state.RESULTS + widest + 1)
            self.write_cell(address, state.SHARED, self._shared)
            self.write_cell(address, CALLBACK, callback)
            self.write_cell(address, NUMBER, len(self._host))
            self._host.append(function)
            self._host_numbers.append(number)
            self._host_types.append(kind)
            self._add_state(address, None, first)
            self._entries.append(entry)
            self._publish()
            reference = number << 32 | first + 1
            self._functions[reference] = Function(self, reference, kind, name)
            return self._functions[reference]

    def _call_host(self, number: int, values: int) -> int:
        """What guests call for a host function: arguments and results are at the address."""
        kind = self._host_types[number]
        self._host_threads.append(threading.get_ident())
        try:
            raw = self._backend.read(values, 8 * sum(map(state.cells_of, kind.params)))
            arguments = unpack_bits(kind.params, raw)
            result = self._host[number](
                *(to_host.value_of(self, one, bits) for one, bits in zip(kind.params, arguments, strict=True))
            )
            results = () if not kind.results else (result,) if len(kind.results) == 1 else tuple(result)
            if len(results) != len(kind.results):
                raise ArgumentError(f"a host function of type {kind} gave {len(results)} results")
            bits = [
                to_host.bits_of(self, one, value, "the result of a host function")
                for one, value in zip(kind.results, results, strict=True)
            ]
            self._meet(self._host_numbers[number], kind.results, bits)
            self._backend.write(values, pack_bits(kind.results, bits))
            if self._unclean:
                self._clear()  # the function has called a guest that was ended, and its caller goes on
        except BaseException as error:  # whatever it is, it must not run into native code
            self._host_error = error
            return 1
        finally:
            self._host_threads.pop()
        return 0

    # --- calls -------------------------------------------------------------------------------------------------------

    def call(self, function: Function, bits: Sequence[int]) -> list[int]:
        """Call a function with the bits of its arguments; gives the bits of its results."""
        number, entry = function.reference >> 32, function.reference & 0xFFFFFFFF
        with self._turn():
            if self._owners[number] is None:
                raise ArgumentError(f"{function.name} is a function of the host; call it in Python")
            self._meet(number, function.type.params, bits)
            for at in self._groups[number]:
                if self._loaded[at] is not None and self._backend.improve(self._loaded[at]):
                    self._refresh(at)
                    self._publish()
            return self._run(number, entry, function.type, bits)

    def _meet(self, number: int, kinds: Sequence[str], bits: Sequence[int]) -> None:
        """Have an instance that is given functions be able to call them."""
        others = [value >> 32 for value, kind in zip(bits, kinds, strict=True) if kind == "funcref" and value]
        if others:
            self._join([number, *others])

    def given(self, number: int | None, kind: str, bits: int) -> None:
        """Note that the host puts a value where an instance finds it."""
        if number is not None:
            self._meet(number, (kind,), (bits,))

    def _turn(self) -> contextlib.AbstractContextManager[object]:
        """The right to use the store; a function of the host that a guest called shares its caller's."""
        return contextlib.nullcontext() if self._called_by_guest() else self._lock

    def _called_by_guest(self) -> bool:
        return bool(self._host_threads) and self._host_threads[-1] == threading.get_ident()

    def _run(self, number: int, entry: int, kind: FuncType, bits: Sequence[int]) -> list[int]:
        self._make_ready()
        size = 8 * max(sum(map(state.cells_of, kind.params)), sum(map(state.cells_of, kind.results)))
        values = pack_bits(kind.params, bits).ljust(size, b"\0")
        try:
            outcome = self._backend.call(
                self._loaded[number], self._states[number], self._shared, self._code + entry * state.CODE_ENTRY, values
            )
        except BaseException:
            self._unclean = True  # cleaned later: here Python's stack may be at its end
            raise
        if outcome.trapped:
            self._unclean = True
            raise self._trap(outcome)
        return unpack_bits(kind.results, outcome.values)

    def _make_ready(self) -> None:
        """Have common cells as a call needs them."""
        if self._unclean:
            self._clear()
        if self._called_by_guest():
            return
        if self._records_exceptions and not self._holds_exceptions:  # the host cannot give one back that it was given
            self.write_cell(self._shared, state.EXCEPTIONS_USED, 0)
        if self._backend.build.meter != "off":
            self.write_cell(self._shared, state.FUEL, 0)
            self.write_cell(self._shared, state.FUEL_LEFT, UNLIMITED if self._fuel is None else self._fuel)

    def _clear(self) -> None:
        for cell in (state.TRAP, state.TRAP_STATE, state.PENDING, state.TAIL):
            self.write_cell(self._shared, cell, 0)
        self._unclean, self._host_error = False, None

    def _trap(self, outcome: Outcome) -> BaseException:
        """The error for a trap; common cells are made ready for the next call."""
        raw = self.read_cell(self._shared, state.TRAP)
        kind, place = raw & 0xFFFFFFFF, raw >> 32
        if place & FAULT_PLACE:
            place = 0  # the trace says where
        who = self.read_cell(self._shared, state.TRAP_STATE)
        thrown = self.read_cell(self._shared, state.PENDING)
        error = self._host_error
        self._clear()
        if kind == traps.HOST_ERROR and error is not None:
            return error
        if kind == traps.UNCAUGHT:
            return self._uncaught(thrown)
        owner = next((found for found in self._owners if found is not None and found.state == who), None)
        frames = self._frames(outcome.trace)
        if not place and frames:
            name, _, place = frames[0]
        else:
            name = function_at(owner.module, place) if owner is not None else ""
        shown = [
            f"{inner if inner == outer else f'{inner}, inlined in {outer}'} (+{at:#x})" for inner, outer, at in frames
        ]
        if len(shown) > _SHOWN_FRAMES:
            shown[_SHOWN_FRAMES:] = [f"and {len(shown) - _SHOWN_FRAMES} more or deeper"]
        return WasmTrap(traps.KINDS[kind], function=name, offset=place, frames=tuple(shown))

    def _frames(self, trace: Sequence[int]) -> list[tuple[str, str, int]]:
        """The calls that a trap was in, the innermost first: the function, the one it is compiled into, the place."""
        found = []
        members = [(owner, one) for owner, one in zip(self._owners, self._loaded, strict=True) if one is not None]
        distinct = {id(one): (owner, one) for owner, one in members if owner is not None}
        for address in trace:
            for owner, loaded in distinct.values():
                where = self._backend.place_of(loaded, address)
                if where is not None:
                    index, place = where
                    outer = readable(owner.module.function_name(index))
                    inner = function_at(owner.module, place) or outer
                    found.append((inner, outer, place))
                    break
        return found

    def _uncaught(self, thrown: int) -> WasmException:
        """The error for an exception that nobody caught."""
        number = thrown >> 32 & 0x7FFFFFFF
        kind = self._tag_types[number - 1].type.params
        if thrown >> 63:
            record = self.read_cell(self._shared, state.EXCEPTIONS) + (thrown & 0x7FFFFFFF) * self._stride
            words = [self.read_cell(record, 1 + at) for at in range(sum(map(state.cells_of, kind)))]
            if not thrown >> 31 & 1 and not self._called_by_guest():  # nobody holds it
                self.write_cell(self._shared, state.EXCEPTIONS_USED, thrown & 0x7FFFFFFF)
            bits = unpack_bits(kind, pack_bits(("i64",) * len(words), words))
        else:
            bits = [thrown & 0xFFFFFFFF] * len(kind)
        values = tuple(to_host.value_of(self, one, value) for one, value in zip(kind, bits, strict=True))
        tag = next(
            (
                export
                for owner in self._owners
                if owner is not None
                for export in owner.exports.values()
                if isinstance(export, Tag) and export.number_in_store == number
            ),
            None,
        )
        return WasmException(f"an exception was thrown and not caught; it carries {values}", tag=tag, values=values)
