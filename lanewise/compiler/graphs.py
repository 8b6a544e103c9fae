"""Parts of a graph from each of whose nodes all others can be reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def components(nodes: Iterable[int], ways: Callable[[int], Iterable[int]]) -> list[set[int]]:
    """Such parts of a graph, as large as they can be. Ways that leave the nodes given must not be among those asked."""
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    found: list[set[int]] = []
    for first in nodes:
        if first in order:
            continue
        _enter(first, order, lowest, open_nodes, is_open)
        path = [(first, iter(ways(first)))]
        while path:
            node, left = path[-1]
            onward = next((way for way in left if way not in order or way in is_open), None)
            if onward is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    part: set[int] = set()
                    while node not in part:
                        part.add(one := open_nodes.pop())
                        is_open.discard(one)
                    found.append(part)
            elif onward in order:
                lowest[node] = min(lowest[node], order[onward])
            else:
                _enter(onward, order, lowest, open_nodes, is_open)
                path.append((onward, iter(ways(onward))))
    return found


def _enter(node: int, order: dict[int, int], lowest: dict[int, int], open_nodes: list[int], is_open: set[int]) -> None:
    order[node] = lowest[node] = len(order)
    open_nodes.append(node)
    is_open.add(node)
