"""Checks on control flow: barriers that not all threads reach, and one thread working while the others wait.

Both look at what is visible in the source: conditions built from thread_id(), local_id() or lane_id(), also through
local variables. The first is an error, since the group would hang or read half-written memory; the second is a warning.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lanewise.errors import LangWarning
from lanewise.lang import atomics, vocabulary
from lanewise.lang.functions import DeviceFunction
from lanewise.lang.intrinsics import GRID_RANGE
from lanewise.lang.overloads import Overloads

_THREAD_NUMBERS = {vocabulary.thread_id, vocabulary.local_id, vocabulary.lane_id}
_DIVERGENT = _THREAD_NUMBERS | {vocabulary.clock, vocabulary.time_ns, GRID_RANGE}
_DIVERGENT |= {found for name, found in vars(atomics).items() if name.startswith("atomic_") and name != "atomic_load"}

_warned: set[tuple[str, int, str]] = set()


def check_function(function: DeviceFunction, has_barrier: Callable[[DeviceFunction], bool]) -> None:
    """Raise for a barrier in divergent code, warn for one-thread patterns."""
    analysis = _Analysis(function)
    for node in _barriers(analysis, has_barrier, function.source.node.body, None):
        raise node
    for line, message in _one_thread_patterns(analysis, function.source.node.body):
        _warn(function, line, message)


def _warn(function: DeviceFunction, line: int, message: str) -> None:
    key = (function.source.filename, line, message)
    if key not in _warned:
        _warned.add(key)
        warnings.warn_explicit(
            message, LangWarning, function.source.filename, line, module=function.function.__module__
        )


class _Analysis:
    """What a function's local names hold: values that differ between threads, thread numbers, one-thread conditions."""

    def __init__(self, function: DeviceFunction) -> None:
        self.function = function
        self.divergent: set[ast.Name] = set()
        """Where a name is read and visibly differs between threads."""
        self.thread_numbers: set[str] = set()
        self.conditions: dict[str, ast.expr] = {}
        by_name: dict[str, list[ast.expr]] = {}
        for names, value in _assignments(function.source.node):
            for name in names:
                by_name.setdefault(name, []).append(value)
        for name, values in by_name.items():
            if all(self._is_number_call(value) for value in values):
                self.thread_numbers.add(name)
            elif len(values) == 1 and isinstance(values[0], ast.Compare | ast.BoolOp | ast.UnaryOp):
                self.conditions[name] = values[0]
        self._follow(function.source.node.body, set(), apart=False, looping=False)

    def _follow(self, body: list[ast.stmt], differing: set[str], apart: bool, looping: bool) -> set[str]:
        """Go through statements with the names that differ before them; gives those that differ behind.

        `apart` says that not all threads are here, so that whatever is assigned differs. In a loop an assignment never
        takes a name out, since a break may have left before it.
        """
        for statement in body:
            if isinstance(statement, ast.If):
                inner = self._mark(statement.test, differing) or apart
                ways = [self._follow(way, set(differing), inner, looping) for way in (statement.body, statement.orelse)]
                differing = ways[0] | ways[1]
            elif isinstance(statement, ast.While | ast.For):
                differing = self._follow_loop(statement, differing, apart)
            else:
                self._mark(statement, differing)
                for names, value in _assignments(statement):
                    if apart or self.differs(value):
                        differing = differing | names
                    elif not looping and not isinstance(statement, ast.AugAssign):
                        differing = differing - names
        return differing

    def _follow_loop(self, loop: ast.While | ast.For, differing: set[str], apart: bool) -> set[str]:
        while True:
            inner = self._mark(loop.test if isinstance(loop, ast.While) else loop.iter, differing) or apart
            inner = inner or _divergent_exit(self, loop.body) is not None
            counter = {name.id for name in _stored(loop.target)} if isinstance(loop, ast.For) else set()
            at_start = differing | counter if inner else differing - counter
            behind = differing | self._follow(loop.body, at_start, inner, looping=True)
            if behind == differing:
                return behind
            differing = behind

    def _mark(self, node: ast.AST, differing: set[str]) -> bool:
        names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
        self.divergent |= {name for name in names if name.id in differing}
        return isinstance(node, ast.expr) and self.differs(node)

    def callee(self, node: ast.expr) -> Any:
        """The object that is called, where it can be told."""
        try:
            if isinstance(node, ast.Name):
                return self.function.lookup(node.id)
            if isinstance(node, ast.Attribute):
                return getattr(self.callee(node.value), node.attr, None)
        except KeyError:
            pass
        return None

    def _is_number_call(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._in(self.callee(node.func), _THREAD_NUMBERS)

    @staticmethod
    def _in(found: Any, group: set[Any]) -> bool:
        return any(found is member for member in group)

    def differs(self, node: ast.expr) -> bool:
        """Whether an expression visibly has different values in different threads of a group."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part in self.divergent:
                return True
            if isinstance(part, ast.Call) and self._in(self.callee(part.func), _DIVERGENT):
                return True
        return False

    def is_thread_number(self, node: ast.expr) -> bool:
        """Whether an expression is the number of this thread."""
        return self._is_number_call(node) or (isinstance(node, ast.Name) and node.id in self.thread_numbers)

    def selects_one(self, node: ast.expr) -> bool:
        """Whether a condition holds for one thread only."""
        if isinstance(node, ast.Name) and node.id in self.conditions:
            return self._unfold(node.id, self.selects_one)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.spares_one(node.operand)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return any(self.selects_one(part) for part in node.values)
        return self._compares(node, {ast.Eq: None, ast.Lt: 1, ast.LtE: 0})

    def spares_one(self, node: ast.expr) -> bool:
        """Whether a condition holds for all threads but one."""
        if isinstance(node, ast.Name) and node.id in self.conditions:
            return self._unfold(node.id, self.spares_one)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.selects_one(node.operand)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return any(self.spares_one(part) for part in node.values)
        return self._compares(node, {ast.NotEq: None, ast.Gt: 0, ast.GtE: 1})

    def _unfold(self, name: str, test: Callable[[ast.expr], bool]) -> bool:
        """Ask of what a name stands for; its own name in there (`done = done or ...`) stands for nothing known."""
        value = self.conditions.pop(name)
        try:
            return test(value)
        finally:
            self.conditions[name] = value

    def _compares(self, node: ast.expr, wanted: dict[type[ast.cmpop], int | None]) -> bool:
        """`number op limit`, either way round, for these operators; None is any limit that all threads share."""
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return False
        left, op, right = node.left, type(node.ops[0]), node.comparators[0]
        if self.is_thread_number(right):
            mirrored: dict[type[ast.cmpop], type[ast.cmpop]] = {
                ast.Lt: ast.Gt,
                ast.Gt: ast.Lt,
                ast.LtE: ast.GtE,
                ast.GtE: ast.LtE,
            }
            left, op, right = right, mirrored.get(op, op), left
        if not self.is_thread_number(left) or op not in wanted:
            return False
        limit = wanted[op]
        if limit is None:
            return not self.differs(right)
        return isinstance(right, ast.Constant) and right.value == limit


def _assignments(root: ast.AST) -> Iterator[tuple[set[str], ast.expr]]:
    """Every assignment to a name: the names and the value."""
    for node in ast.walk(root):
        if isinstance(node, ast.Assign):
            yield {name.id for target in node.targets for name in _stored(target)}, node.value
        elif isinstance(node, ast.AnnAssign | ast.AugAssign) and node.value is not None:
            yield {name.id for name in _stored(node.target)}, node.value
        elif isinstance(node, ast.For):
            yield {name.id for name in _stored(node.target)}, node.iter


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Tuple):
        for part in node.elts:
            yield from _stored(part)


def _barriers(
    analysis: _Analysis, has_barrier: Callable[[DeviceFunction], bool], body: list[ast.stmt], control: ast.expr | None
) -> Iterator[Exception]:
    """Errors for barriers under a condition that differs between threads; `control` is that condition."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _waiting(analysis, has_barrier, statement.test, control)
            inner = control or (statement.test if analysis.differs(statement.test) else None)
            yield from _barriers(analysis, has_barrier, statement.body, inner)
            yield from _barriers(analysis, has_barrier, statement.orelse, inner)
        elif isinstance(statement, ast.While | ast.For):
            bound = statement.test if isinstance(statement, ast.While) else statement.iter
            leaves = _divergent_exit(analysis, statement.body)
            inner = control or (bound if analysis.differs(bound) else leaves)
            # The test of a while is come to once a trip, the bounds of a for only before the first.
            again = inner if isinstance(statement, ast.While) else control
            yield from _waiting(analysis, has_barrier, bound, again)
            yield from _barriers(analysis, has_barrier, statement.body, inner)
        else:
            yield from _waiting(analysis, has_barrier, statement, control)


def _waiting(
    analysis: _Analysis, has_barrier: Callable[[DeviceFunction], bool], node: ast.AST, control: ast.expr | None
) -> Iterator[Exception]:
    """Errors for barriers in a straight-line statement or an expression, which may hold conditions of its own."""
    if isinstance(node, ast.Call) and control is not None and _waits(analysis, has_barrier, node):
        line = analysis.function.source.position(control).line
        yield analysis.function.source.error(
            "not all threads of the group come to this barrier",
            node,
            f"the condition on line {line} differs between threads; move the barrier out of it",
        )
    for part in ast.iter_child_nodes(node):
        inner = control
        if inner is None and isinstance(node, ast.IfExp) and part is not node.test and analysis.differs(node.test):
            inner = node.test
        if inner is None and isinstance(node, ast.BoolOp) and isinstance(part, ast.expr):
            before = node.values[: node.values.index(part)]
            inner = next((value for value in before if analysis.differs(value)), None)
        yield from _waiting(analysis, has_barrier, part, inner)


def _waits(analysis: _Analysis, has_barrier: Callable[[DeviceFunction], bool], node: ast.Call) -> bool:
    callee = analysis.callee(node.func)
    if callee is vocabulary.threadgroup_barrier:
        return True
    return isinstance(callee, DeviceFunction) and has_barrier(callee)


def _divergent_exit(analysis: _Analysis, body: list[ast.stmt]) -> ast.expr | None:
    """The condition of a break or continue of this loop that not all threads take together."""
    for statement in body:
        if isinstance(statement, ast.If):
            if analysis.differs(statement.test) and any(
                isinstance(node, ast.Break | ast.Continue)
                for inner in (*statement.body, *statement.orelse)
                for node in _same_loop(inner)
            ):
                return statement.test
            found = _divergent_exit(analysis, statement.body) or _divergent_exit(analysis, statement.orelse)
            if found is not None:
                return found
    return None


def _same_loop(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if not isinstance(node, ast.While | ast.For):
        for child in ast.iter_child_nodes(node):
            yield from _same_loop(child)


def _one_thread_patterns(analysis: _Analysis, body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    for statement in body:
        if isinstance(statement, ast.If):
            if analysis.spares_one(statement.test):
                if any(isinstance(inner, ast.Return) for inner in statement.body):
                    yield (
                        statement.lineno,
                        "all threads but one return here, so one thread does all that follows; "
                        "let every thread do a share of it",
                    )
                yield from _alone(analysis, statement.orelse)
            if analysis.selects_one(statement.test):
                yield from _alone(analysis, statement.body)
                if any(isinstance(inner, ast.Return) for inner in statement.orelse):
                    yield statement.lineno, "all threads but one return here; let every thread do a share of the work"
            yield from _one_thread_patterns(analysis, statement.body)
            yield from _one_thread_patterns(analysis, statement.orelse)
        elif isinstance(statement, ast.While) and analysis.selects_one(statement.test):
            yield statement.lineno, LOOPS_ALONE
        elif isinstance(statement, ast.While | ast.For):
            yield from _one_thread_patterns(analysis, statement.body)
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.IfExp) and analysis.selects_one(node.test):
                    yield from _alone(analysis, [node.body])
                elif isinstance(node, ast.IfExp) and analysis.spares_one(node.test):
                    yield from _alone(analysis, [node.orelse])


LOOPS_ALONE = "one thread loops here while the others wait; spread the loop over all threads"


def _alone(analysis: _Analysis, body: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Loops and calls in code that one thread runs; what the language itself brings (read_shared, exp) is no work."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.While | ast.For):
                yield node.lineno, LOOPS_ALONE
                break
            if isinstance(node, ast.Call):
                callee = analysis.callee(node.func)
                if isinstance(callee, DeviceFunction | Overloads) and not _is_word(callee):
                    name = ast.unparse(node.func)
                    yield node.lineno, f"one thread calls {name} here while the others wait; let all threads take part"
                    break


def _is_word(callee: DeviceFunction | Overloads) -> bool:
    """Whether a function belongs to the language, such as read_shared or sin; warp operations need all threads."""
    made = callee.make if isinstance(callee, Overloads) else callee.function
    return made.__module__.startswith("lanewise.lang.") and made.__module__ != "lanewise.lang.warp"
