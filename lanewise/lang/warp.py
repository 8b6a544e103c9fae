"""Warp operations, in lang: ballot, shuffle, reduce and prefix sum over the 32 threads that run in step.

All threads of the warp that have not returned must come to the same operation. A GPU does them with votes and shuffles,
a CPU by exchanging values; both add in the same order, so float results have the same bits.
"""

from lanewise.lang.functions import device
from lanewise.lang.intrinsics import ON_GPU
from lanewise.lang.overloads import overloaded
from lanewise.lang.types import FLOATS, INTEGERS, SCALARS, i32, u32, u64
from lanewise.lang.vocabulary import lane_id, popcount
from lanewise.lang.warp_intrinsics import exchange, pack, shuffle, unpack, vote

ALL_LANES = u32(0xFFFFFFFF)
NUMBERS = (*INTEGERS, *FLOATS)


@device
def warp_ballot(flag: bool) -> u32:
    """The mask of lanes whose flag is set; lanes that have returned count as not set."""
    if ON_GPU:
        return vote(flag)
    box = exchange(u64(flag))
    mask = u32(0)
    for lane in range(u32(32)):
        if (box.present >> lane) & 1 != 0 and box.values[lane] != 0:
            mask |= u32(1) << lane
    return mask


@device
def warp_any(flag: bool) -> bool:
    """Whether any lane's flag is set."""
    return warp_ballot(flag) != 0


@device
def warp_all(flag: bool) -> bool:
    """Whether every lane that is here has its flag set."""
    return warp_ballot(not flag) == 0


@device
def warp_active() -> u32:
    """The mask of lanes of this warp that have not returned."""
    return warp_ballot(True)


@overloaded(types=SCALARS, default=i32)
def warp_shuffle(T):
    """warp_shuffle(value, source): what lane `source` (modulo 32) passes; one's own value if that lane has returned."""

    @device
    def warp_shuffle(value: T, source: u32) -> T:
        if ON_GPU:
            present = vote(True)
            other = shuffle(value, source)
            return other if (present >> source) & 1 != 0 else value
        else:
            box = exchange(pack(value))
            if (box.present >> source) & 1 == 0:
                return value
            return unpack(T, box.values[source & 31])

    return warp_shuffle


def _reduction(name, combine, types):
    """A reduction over the warp: a butterfly if all 32 lanes are here, else in the order of lanes."""

    def make(T):
        step = combine(T)

        @device
        def reduce_gpu(value: T) -> T:
            present = vote(True)
            result = value
            if present == ALL_LANES:
                offset = u32(16)
                while offset > 0:
                    # Both lanes of a pair combine in the order of lanes, so that they agree on signed zeros and NaN.
                    other = shuffle(result, lane_id() ^ offset)
                    result = step(result, other) if lane_id() & offset == 0 else step(other, result)
                    offset >>= 1
            else:
                first = True
                for lane in range(u32(32)):
                    if (present >> lane) & 1 != 0:
                        other = shuffle(value, lane)
                        result = other if first else step(result, other)
                        first = False
            return result

        @device
        def reduce_cpu(value: T) -> T:
            box = exchange(pack(value))
            values: T[32]
            for lane in range(u32(32)):
                values[lane] = unpack(T, box.values[lane])
            if box.present == ALL_LANES:
                offset = u32(16)
                while offset > 0:
                    # Lanes of a butterfly pair hold the same sum, so half of them is enough.
                    for lane in range(offset):
                        values[lane] = step(values[lane], values[lane + offset])
                    offset >>= 1
                return values[0]
            first = True
            result = value
            for lane in range(u32(32)):
                if (box.present >> lane) & 1 != 0:
                    result = values[lane] if first else step(result, values[lane])
                    first = False
            return result

        @device
        def reduce(value: T) -> T:
            if ON_GPU:
                return reduce_gpu(value)
            else:
                return reduce_cpu(value)

        return reduce

    make.__name__ = name
    make.__doc__ = f"{name}(value): {name.removeprefix('warp_reduce_')} over all lanes of the warp; every lane gets it."
    return overloaded(types=types, default=i32)(make)


def _add(T):
    @device
    def add(a: T, b: T) -> T:
        return a + b

    return add


def _min(T):
    @device
    def smaller(a: T, b: T) -> T:
        return min(a, b)

    return smaller


def _max(T):
    @device
    def larger(a: T, b: T) -> T:
        return max(a, b)

    return larger


def _and(T):
    @device
    def both(a: T, b: T) -> T:
        return a & b

    return both


def _or(T):
    @device
    def either(a: T, b: T) -> T:
        return a | b

    return either


def _xor(T):
    @device
    def differ(a: T, b: T) -> T:
        return a ^ b

    return differ


warp_reduce_add = _reduction("warp_reduce_add", _add, NUMBERS)
warp_reduce_min = _reduction("warp_reduce_min", _min, NUMBERS)
warp_reduce_max = _reduction("warp_reduce_max", _max, NUMBERS)
warp_reduce_and = _reduction("warp_reduce_and", _and, INTEGERS)
warp_reduce_or = _reduction("warp_reduce_or", _or, INTEGERS)
warp_reduce_xor = _reduction("warp_reduce_xor", _xor, INTEGERS)


@overloaded(types=NUMBERS, default=i32)
def warp_prefix_sum(T):
    """warp_prefix_sum(value): the sum over this lane and all lanes before it that are here."""

    @device
    def prefix_gpu(value: T) -> T:
        present = vote(True)
        result = value
        if present == ALL_LANES:
            offset = u32(1)
            while offset < 32:
                other = shuffle(result, lane_id() - offset)
                if lane_id() >= offset:
                    result = other + result
                offset <<= 1
        else:
            running = T(0)
            first = True
            for lane in range(u32(32)):
                if (present >> lane) & 1 != 0:
                    other = shuffle(value, lane)
                    running = other if first else running + other
                    first = False
                    if lane == lane_id():
                        result = running
        return result

    @device
    def prefix_cpu(value: T) -> T:
        box = exchange(pack(value))
        if box.present == ALL_LANES:
            values: T[32]
            for lane in range(u32(32)):
                values[lane] = unpack(T, box.values[lane])
            offset = u32(1)
            while offset < 32:
                for back in range(u32(32) - offset):
                    values[31 - back] = values[31 - back - offset] + values[31 - back]
                offset <<= 1
            return values[lane_id()]
        running = T(0)
        first = True
        for lane in range(lane_id() + 1):
            if (box.present >> lane) & 1 != 0:
                other = unpack(T, box.values[lane])
                running = other if first else running + other
                first = False
        return running

    @device
    def prefix(value: T) -> T:
        if ON_GPU:
            return prefix_gpu(value)
        else:
            return prefix_cpu(value)

    return prefix


@device
def lanes_below(mask: u32) -> u32:
    """How many lanes of a mask come before this one: the slot of this lane in a compacted output."""
    return popcount(mask & ((u32(1) << lane_id()) - 1))
