"""Which functions of a program call which: what recurses, and what must look at the stack on a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from lanewise.wasm.lowering import FunctionLowering


def recursive_functions(lowered: dict[int, FunctionLowering]) -> set[int]:
    """Functions whose calls may come back to themselves; calls through references may go anywhere."""
    found = {index for index, fn in lowered.items() if fn.calls_unknown}
    for members in components(lowered):
        if is_circle(lowered, members):
            found |= set(members)
    return found


def is_circle(lowered: dict[int, FunctionLowering], members: list[int]) -> bool:
    """Whether the functions of a component call themselves or each other."""
    return len(members) > 1 or members[0] in lowered[members[0]].calls


def stack_checks(lowered: dict[int, FunctionLowering]) -> set[int]:
    """GPU: the functions that look whether the stack is low: in a program that may recurse, all that call others."""
    if not recursive_functions(lowered):
        return set()
    return {index for index, fn in lowered.items() if fn.calls or fn.calls_unknown}


def called_back(lowered: dict[int, FunctionLowering]) -> set[int]:
    """Functions that calls through references may come back to while they run."""
    if not any(fn.calls_unknown for fn in lowered.values()):
        return set()
    callers: dict[int, set[int]] = {index: set() for index in lowered}
    for index, fn in lowered.items():
        for callee in fn.calls:
            callers[callee].add(index)
    callees = {index: fn.calls for index, fn in lowered.items()}
    entered = _reached(callees, _referred_to(lowered))
    return entered & _reached(callers, {index for index, fn in lowered.items() if fn.calls_unknown})


def _referred_to(lowered: dict[int, FunctionLowering]) -> set[int]:
    """Functions that a reference may stand for; other modules can get one of whatever is exported."""
    context = next(iter(lowered.values())).context
    module = context.module
    expressions = [item for segment in module.elements for item in segment.items]
    expressions += [one.init for one in module.defined_globals]
    found = {one.immediates[0] for expression in expressions for one in expression if one.op.rule == "ref.func"}
    for fn in lowered.values():
        found |= fn.refers
    if context.build.linked:
        found |= {one.index for one in module.exports if one.kind == "function"}
    return found & set(lowered)


def _reached(ways: dict[int, set[int]], starts: set[int]) -> set[int]:
    """What can be reached from these, themselves included."""
    found: set[int] = set()
    waiting = list(starts)
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting += ways[index]
    return found


def components(lowered: dict[int, FunctionLowering]) -> Iterator[list[int]]:
    """All functions in groups that reach each other by calls that name a function, a group behind those that it calls.

    This is Tarjan's algorithm, without recursion of its own: modules may nest calls deeper than Python can.
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    for root in lowered:
        if root in order:
            continue
        work = [(root, iter(sorted(lowered[root].calls)))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, callees = work[-1]
            for callee in callees:
                if callee not in order:
                    order[callee] = low[callee] = len(order)
                    stack.append(callee)
                    on_stack.add(callee)
                    work.append((callee, iter(sorted(lowered[callee].calls))))
                    break
                if callee in on_stack:
                    low[node] = min(low[node], order[callee])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    members = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        members.append(member)
                        if member == node:
                            break
                    yield sorted(members)
