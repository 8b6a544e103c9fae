"""Thousands of calls with random arguments: whatever lanes ask for, they stay in their memory and their directory."""

import os
import random
import struct

import kernel_calls
import pytest
from engine_runs import WASI
from kernel_calls import MEMORY, PATH_AT, Call, make_folder
from test_kernel_calls import BUFFER, EVENTS, PARAMETERS, PARTS, SHARED, script, subscription

CALLING, WATCHING = 90, 8
CALLS = 60
SECRET = 0x7E57C0DE
"""What no lane may see: it lies in files that are outside of the directory that lanes have."""
CANARY, CANARY_END, CANARY_BYTE = 65536, MEMORY - 256, 0xA7
"""Memory that is nobody's: no pointer leads there."""
SELDOM = {"fd_close": 0.2, "fd_renumber": 0.3, "proc_raise": 0.1, "sched_yield": 0.1}
OFTEN = {"path_open": 6.0, "path_symlink": 2.0, "path_link": 2.0, "path_rename": 2.0, "fd_read": 3.0, "fd_write": 2.0}
WILD = 0.004
"""How likely an argument is one that ends the lane."""

Choices = dict[str, list[tuple[list[tuple[int, ...]], list[tuple[int, ...]]]]]
"""By function and parameter: values with which lanes go on, and values that end them."""


def choices(device, root) -> Choices:
    """Find out which values of a parameter end a lane by themselves."""
    tried = []
    for name, parameters in PARAMETERS.items():
        usual = [next(iter(values.values())) for values in parameters]
        for at, values in enumerate(parameters):
            for value in values.values():
                arguments = [word for one in (*usual[:at], value, *usual[at + 1 :]) for word in one]
                tried.append((name, at, value, [("poke", EVENTS, subscription(0, 1)), (name, *arguments)]))
    found = kernel_calls.on_lanes([script(SHARED, calls) for *_, calls in tried], device, root)
    made: Choices = {name: [([], []) for _ in parameters] for name, parameters in PARAMETERS.items()}
    for (name, at, value, _), (_, ended) in zip(tried, found, strict=True):
        made[name][at][ended is not None].append(value)
    return made


def random_call(rng: random.Random, name: str, known: Choices) -> list[Call]:
    """A call, behind what puts random things where its pointers lead."""
    arguments: list[int] = []
    for goes_on, ends in known[name]:
        values = ends if ends and rng.random() < WILD else goes_on
        value = rng.choice(values)
        if value in PATH_AT.values() and rng.random() < 0.1:
            value = (rng.randrange(BUFFER, BUFFER + 64), rng.randrange(6))  # a path of what was read before
        arguments += value
    before: list[Call] = []
    if name == "poll_oneoff":  # with a clock in any case, since whoever waits for nothing else may wait for ever
        asked = [subscription(rng.randrange(3), rng.choice((0, 1, rng.randrange(12)))) for _ in range(rng.randrange(3))]
        before.append(("poke", EVENTS, b"".join([*asked, subscription(0, 1, rng.randrange(20_000))])))
        arguments = [EVENTS, BUFFER, len(asked) + 1, BUFFER + 256]
    elif "read" in name or "write" in name:
        places = [(rng.randrange(0, 5000), rng.choice((0, 1, 4, 8, 100, 3000))) for _ in range(3)]
        if rng.random() < 0.1:
            places[rng.randrange(3)] = (PARTS + 8 * rng.randrange(3), 24)  # over the parts themselves
        if rng.random() < 0.01:
            places[rng.randrange(3)] = (MEMORY - 1, 2)
        before.append(("poke", PARTS, b"".join(struct.pack("<II", *place) for place in places)))
    return [*before, (name, *arguments)]


def fuzzing(seed: int, known: Choices) -> list[Call]:
    """Random calls between which others look for what must not be."""
    rng = random.Random(seed)
    names = [name for name in WASI if name != "proc_exit"]
    weights = [SELDOM.get(name, OFTEN.get(name, 1.0)) for name in names]
    calls: list[Call] = [("fill", CANARY, CANARY_BYTE, CANARY_END - CANARY)]
    for number, name in enumerate(rng.choices(names, weights, k=CALLS)):
        calls += random_call(rng, name, known)
        if number % 20 == 19:
            calls += [("differs", CANARY, CANARY_END, CANARY_BYTE), ("find", 0, CANARY - 4, SECRET)]
    return script(SHARED, calls)


def watching() -> list[Call]:
    """Nothing but waiting, with a look whether memory has stayed as it was."""
    calls: list[Call] = [("fill", 8192, CANARY_BYTE, MEMORY - 8192), ("poke", EVENTS, subscription(0, 1, 2_000_000))]
    for _ in range(12):
        calls += [("poll_oneoff", EVENTS, BUFFER, 1, BUFFER + 64), ("differs", 8192, MEMORY, CANARY_BYTE)]
    return calls


def outside_of(folder, root):
    """Names and times of all that lanes must leave alone."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(place, name) != str(root)]
        for name in folders + files:
            path = os.path.join(place, name)
            found[path] = os.readlink(path) if os.path.islink(path) else os.stat(path).st_mtime_ns
    return found


def check(seed: int, device, folder) -> int:
    """Have lanes make random calls; gives how many there were."""
    root, trial = folder / "above" / "root", folder / "trial"
    for place in (root, trial):
        make_folder(place / SHARED, "../../outside")
    for place in (folder / "outside", folder / "above" / "outside"):
        place.write_bytes(struct.pack("<I", SECRET) * 1000)
    known = choices(device, trial)
    before = outside_of(folder, root)
    scripts = [fuzzing(1000 * seed + number, known) for number in range(CALLING)]
    for number in range(WATCHING):
        scripts.insert(number * (CALLING // WATCHING + 1), watching())
    found = kernel_calls.on_lanes(scripts, device, root)
    assert outside_of(folder, root) == before
    allowed = {"out of bounds pointer", "unaligned pointer", "invalid argument of a system call", None}
    for number, (calls, (values, ended)) in enumerate(zip(scripts, found, strict=True)):
        assert ended in allowed, number
        names = [name for name, *_ in calls if name not in ("poke", "fill")]
        assert ended is not None or len(values) == len(names), number
        for name, value in zip(names, values, strict=False):
            assert value <= (0 if name in ("differs", "find") else 76), (number, name, value)
    return sum(len(values) for values, _ in found)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_calls_leave_other_memory_and_other_directories_alone(seed, device, tmp_path):
    assert check(seed, device, tmp_path) > 2000
