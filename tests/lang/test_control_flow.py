"""Branches, loops, calls, recursion and traps: device code takes the way that the same Python would take."""

import inspect

import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import Ptr, atomic_add, device, f32, i8, i32, i64, kernel, thread_id, u8, u32, u64

LIMIT = 5
DEBUG = False


def line_of(function, text):
    """The line in this file on which a text stands in the source of a kernel or device function."""
    lines, first = inspect.getsourcelines(function.function)
    return next(first + index for index, line in enumerate(lines) if text in line)


def run(device, function, threads, *columns, out=i64, **options):
    """Launch a kernel over arrays of arguments and give back what it wrote."""
    result = device.zeros(threads, out)
    arrays = [device.array(values) for values in columns]
    function[threads](*arrays, result, **options)
    return result.get().tolist()


# --- branches --------------------------------------------------------------------------------------------------------


@device
def classify(n: i32) -> i64:
    """Every form of branch, with early returns."""
    if n < 0:
        if n == -1:
            return -10
        elif n == -2:
            pass
        else:
            return -30
        return -20
    elif n == 0:
        result = i64(0)
    elif n < 10 and n % 2 == 1 or n == 12:
        result = i64(1)
    elif not (n < 20):
        result = i64(2) if n < 30 else i64(3) if n < 40 else i64(4)
    else:
        result = 5
    if DEBUG:
        undefined_in_release(n)
    if 3 <= n <= 7 != 6:
        result += 100
    return result


@kernel
def branches(a: Ptr[i32], out: Ptr[i64]):
    out[thread_id()] = classify(a[thread_id()])


def test_branches_go_where_python_goes(device):
    values = np.arange(-5, 50, dtype=np.int32)
    expected = [classify.function(int(n)) for n in values]
    assert run(device, branches, values.size, values) == expected


@kernel
def short_circuits(a: Ptr[i32], b: Ptr[i32], calls: Ptr[u32], out: Ptr[i64]):
    i = thread_id()
    x = a[i]
    y = b[i]
    result = i64(0)
    if y != 0 and x // y > 2:
        result += 1
    if y == 0 or x % y == 1:
        result += 2
    if x < 0 < atomic_add(calls[0], 1) + 1:
        result += 4
    if not (x > 3 and atomic_add(calls[1], 1) >= 0):
        result += 8
    while y != 0 and x // y > 0 and x > 0:
        x -= 5
        result += 16
    out[i] = result


def test_what_stands_behind_a_short_cut_is_not_evaluated(device):
    a = np.array([7, 7, 7, -7, -7, 0, 4, 100], np.int32)
    b = np.array([0, 2, 3, 0, 2, 0, 4, 3], np.int32)
    calls = device.zeros(2, u32)
    out = device.zeros(a.size, i64)
    short_circuits[a.size](device.array(a), device.array(b), calls, out)

    def reference(x, y):
        result = (1 if y != 0 and x // y > 2 else 0) + (2 if y == 0 or x % y == 1 else 0)
        result += (4 if x < 0 else 0) + (0 if x > 3 else 8)
        while y != 0 and x // y > 0 and x > 0:
            x -= 5
            result += 16
        return result

    assert out.get().tolist() == [reference(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert calls.get().tolist() == [(a < 0).sum(), (a > 3).sum()]


@device
def noted(log: Ptr[u32], at: u32, value: i32) -> i32:
    log[0] = log[0] * 10 + at
    return value


@kernel
def evaluation_order(log: Ptr[u32], p: Ptr[i32]):
    x = noted(log, 1, 5) + noted(log, 2, 6) * noted(log, 3, 7)
    x = max(noted(log, 4, x), noted(log, 5, 1), noted(log, 6, 2))
    p[noted(log, 8, 0)] = noted(log, 7, x)
    log = log + 1
    p[noted(log, 1, 1)] += noted(log, 2, 3)
    y, z = noted(log, 3, 1), noted(log, 4, 2)
    if noted(log, 5, y) < noted(log, 6, z) < noted(log, 7, 3):
        p[2] = noted(log, 9, 1) if noted(log, 8, 1) == 1 else noted(log, 0, 0)


def test_operands_are_evaluated_from_left_to_right(device):
    log, p = device.zeros(2, u32), device.zeros(3, i32)
    evaluation_order[1](log, p)
    assert log.get().tolist() == [12345678, 123456789]
    assert p.get().tolist() == [47, 3, 1]


# --- loops -----------------------------------------------------------------------------------------------------------


def range_kernel(T):
    """Loops over range in one type; each records how often it ran, the sum of its values and the last."""

    @kernel
    def loops(starts: Ptr[T], stops: Ptr[T], steps: Ptr[T], out: Ptr[i64]):
        t = thread_id()
        r = out + t * 9
        last = T(99)
        for i in range(starts[t], stops[t], steps[t]):
            r[0] += 1
            r[1] += i64(i)
            last = i
            i = T(3)
        r[2] = i64(last)
        last = T(99)
        for j in range(starts[t], stops[t]):
            r[3] += 1
            r[4] += i64(j)
            last = j
            if r[3] >= 300:
                break
        r[5] = i64(last)
        j = T(77)
        for j in range(stops[t]):
            r[6] += 1
            if r[6] >= 300:
                break
            if j % 2 == 1:
                continue
            r[7] += i64(j)
        r[8] = i64(j)

    return loops


def range_reference(start, stop, step):
    """What range_kernel writes, from Python's own range."""
    counted = list(range(start, stop, step))
    plain = list(range(start, stop)[:300])
    upward = list(range(stop)[:300])
    kept = upward if len(upward) < 300 else upward[:-1]
    return [
        len(counted), sum(counted), counted[-1] if counted else 99,
        len(plain), sum(plain), plain[-1] if plain else 99,
        len(upward), sum(j for j in kept if j % 2 == 0), upward[-1] if upward else 77,
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [i8, u8, i32, u64], ids=lambda kind: kind.name)
def test_loops_over_range_count_as_python_does_up_to_the_limits_of_the_type(device, kind):
    low, high = kind.min_value, kind.max_value
    ends = {0, 1, 5, high, high - 1, high - 7, low, low + 3}
    far = (high - low) // 40 + 1
    steps = {1, 2, 7, far, high} | ({-1, -2, -far, low, low + 1} if kind.signed else set())
    if kind.signed:
        ends |= {-1, -6}
    cases = [
        (start, stop, step)
        for start in sorted(ends)
        for stop in sorted(ends)
        for step in sorted(steps)
        if 301 > (stop - start) / step
    ]
    columns = [device.array(np.array(column, kind.dtype)) for column in zip(*cases, strict=True)]
    out = device.zeros(len(cases) * 9, i64)
    range_kernel(kind)[len(cases)](*columns, out)
    got = out.get().reshape(-1, 9)
    for case, row in zip(cases, got, strict=True):
        expected = np.array([value % 2**64 for value in range_reference(*case)], np.uint64).view(np.int64)
        assert row.tolist() == expected.tolist(), case


@kernel
def literal_ranges(out: Ptr[i64]):
    for i in range(10, 0, -3):
        out[0] = out[0] * 100 + i64(i)
    for i in range(0):
        out[1] = 1
    for i in range(-3, 4, 2):
        out[2] += i64(i * i)
    for k in range(4_999_999_999, 5_000_000_001):
        out[3] += k - 5_000_000_000
    for i in range(LIMIT):
        for j in range(i):
            if j == 3:
                break
            out[4] += i64(i * 10 + j)
        else_ran = i
        out[5] = i64(else_ran)


def test_ranges_of_literals_count_in_the_type_that_holds_them(device):
    out = device.zeros(6, i64)
    literal_ranges[1](out)
    nested = sum(i * 10 + j for i in range(5) for j in range(min(i, 3)))
    assert out.get().tolist() == [10070401, 0, 9 + 1 + 1 + 9, -1, nested, 4]


@kernel
def steps_by(step: i32, out: Ptr[u32]):
    for i in range(0, 10, step):
        out[0] += 1
        if out[0] > 100:
            break


def test_a_step_of_zero_found_at_run_time_traps(device):
    out = device.zeros(1, u32)
    with pytest.raises(lw.TrapError, match="a range steps by 0") as caught:
        steps_by[1](0, out).wait()
    assert caught.value.line == line_of(steps_by, "range(0, 10, step)")


@device
def collatz(n: u64) -> u32:
    steps = u32(0)
    while True:
        if n == 1:
            break
        steps += 1
        if n % 2 == 0:
            n //= 2
            continue
        n = 3 * n + 1
    return steps


@device
def first_pair(total: i32, limit: i32) -> i32:
    """Leaves two loops at once by a return."""
    for i in range(limit):
        for j in range(limit):
            if i * j == total and i > 1:
                return i * 100 + j
    return -1


@device
def endless(n: u32) -> u32:
    """Has no end but returns; the compiler must see that nothing follows the loop."""
    while True:
        n += 7
        if n % 10 == 0:
            return n


@device
def assigned_at_every_break(n: u32) -> u32:
    while True:
        n += 1
        if n % 3 == 0:
            kind = u32(3)
            break
        if n % 5 == 0:
            kind = u32(5)
            break
    return kind * 1000 + n


@device
def nested_breaks(n: i32) -> i32:
    total = 0
    i = 0
    while i < n:
        i += 1
        if i == 3:
            continue
        j = 0
        while j < i:
            if j == 4:
                break
            j += 1
            total += j
        if total > 50:
            break
        for k in range(i):
            if k % 2 == 0:
                continue
            total += 1
    return total * 100 + i


@kernel
def loops(out: Ptr[i64]):
    t = thread_id()
    r = out + t * 5
    r[0] = i64(collatz(u64(t) + 1))
    r[1] = i64(first_pair(i32(t), 12))
    r[2] = i64(endless(t))
    r[3] = i64(assigned_at_every_break(t))
    r[4] = i64(nested_breaks(i32(t)))


def test_loops_with_break_continue_and_return_do_as_python_does(device):
    out = device.zeros(40 * 5, i64)
    loops[40](out)
    u32_as_python = {"u32": int, "range": range}
    for t, row in enumerate(out.get().reshape(40, 5).tolist()):
        functions = (collatz, first_pair, endless, assigned_at_every_break, nested_breaks)
        arguments = ((t + 1,), (t, 12), (t,), (t,), (t,))
        for function, args, got in zip(functions, arguments, row, strict=True):
            assert got == as_python(function, u32_as_python)(*args), (function.name, args)


def as_python(function, names):
    """The same function under Python's own rules, with these names for the types that it converts to."""
    return type(function.function)(function.function.__code__, names)


@kernel
def without_parameters():
    x = u32(1)
    x += thread_id()


@kernel
def never_runs(p: Ptr[u32]):
    p[0] = 1


def test_a_kernel_may_have_no_parameters_and_no_threads(device):
    without_parameters[100]()
    p = device.zeros(1, u32)
    never_runs[0](p).wait()
    assert p.get().tolist() == [0]


# --- assignment ------------------------------------------------------------------------------------------------------


@device
def divide(a: i32, b: i32) -> tuple[i32, i32]:
    return a // b, a % b


@device
def minmax(p: Ptr[f32], n: u32) -> tuple[f32, f32, u32]:
    low = p[0]
    high = p[0]
    for i in range(1, n):
        low, high = min(low, p[i]), max(high, p[i])
    return low, high, n


@device
def forwards(a: i32) -> tuple[i32, i32]:
    return divide(a, 7)


@kernel
def tuples(p: Ptr[f32], q: Ptr[i32]):
    q[0], q[1] = divide(-17, 5)
    a, b = forwards(50)
    a, b = b, a
    q[2] = a
    q[3] = b
    q[4], q[5] = q[0], q[1]
    q[4], q[5] = q[5], q[4]
    p[3], p[4], n = minmax(p, 3)
    q[6] = i32(n)
    q[7] += 5
    q[7] *= 3
    q[7] -= 1
    q[7] //= 4
    q[7] <<= 4
    q[7] |= 5
    q[7] ^= 0xFF
    q[7] &= 0xF7
    q[7] %= 100
    q[7] >>= 1
    p[5] += 1.5
    p[5] /= 4
    p[5] **= 2
    x: i32 = 7
    x += q[7]
    q[8] = x


def test_tuples_swaps_and_augmented_assignment(device):
    p, q = device.array(np.array([3, -1, 2, 0, 0, 0], np.float32)), device.zeros(9, i32)
    tuples[1](p, q)
    value = ((((0 + 5) * 3 - 1) // 4) << 4 | 5) ^ 0xFF
    value = ((value & 0xF7) % 100) >> 1
    assert q.get().tolist() == [-4, 3, 1, 7, 3, -4, 3, value, 7 + value]
    assert p.get().tolist() == [3, -1, 2, -1, 3, 0.375**2]


@kernel
def shadows(out: Ptr[i32], abs: i32, len: i32):
    min = abs + len
    range = min * 2
    print = range
    max_ = max(print, 1)
    out[0] = max_
    str = 3
    out[1] = str + LIMIT
    _ = 4
    out[2] = _


def test_names_of_python_may_be_used_for_variables(device):
    out = device.zeros(3, i32)
    shadows[1](out, 3, 4)
    assert out.get().tolist() == [14, 8, 4]


@kernel
def großer_name(größe: Ptr[u32], 数: u32):
    größe[0] = 数


def test_names_need_not_be_ascii(device):
    out = device.zeros(1, u32)
    großer_name[1](out, 7)
    assert out.get().tolist() == [7]


# --- recursion -------------------------------------------------------------------------------------------------------


@device
def factorial(n: u64) -> u64:
    if n < 2:
        return 1
    return n * factorial(n - 1)


@device
def fib(n: u32) -> u32:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@device
def is_even(n: u32) -> bool:
    return True if n == 0 else is_odd(n - 1)


@device
def is_odd(n: u32) -> bool:
    return False if n == 0 else is_even(n - 1)


@device
def ackermann(m: u32, n: u32) -> u32:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@kernel
def recurse(out: Ptr[u64]):
    t = thread_id()
    r = out + t * 4
    r[0] = factorial(u64(t))
    r[1] = u64(fib(t))
    r[2] = u64(is_even(t))
    r[3] = u64(ackermann(2, t))


def test_functions_may_call_themselves_and_each_other(device):
    out = device.zeros(21 * 4, u64)
    recurse[21](out)
    fibs = [0, 1]
    product = 1
    for t, row in enumerate(out.get().reshape(21, 4).tolist()):
        product *= max(t, 1)
        fibs.append(fibs[-1] + fibs[-2])
        assert row == [product, fibs[t], t % 2 == 0, 2 * t + 3]


@device
def bottomless(n: u64) -> u64:
    return bottomless(n + 1) + n


@kernel
def falls(out: Ptr[u64]):
    out[thread_id()] = 1
    if thread_id() == 3:
        out[3] = bottomless(0)
    out[thread_id()] = 2


@pytest.mark.filterwarnings("ignore::lanewise.LangWarning")
def test_recursion_too_deep_stops_that_thread_and_names_the_function(device):
    out = device.zeros(8, u64)
    with pytest.raises(lw.TrapError, match="recursion too deep") as caught:
        falls[8](out).wait()
    assert caught.value.thread == 3
    assert caught.value.line == line_of(bottomless, "def bottomless")
    assert out.get().tolist() == [2, 2, 2, 1, 2, 2, 2, 2]


# --- traps -----------------------------------------------------------------------------------------------------------


@kernel
def divides(a: Ptr[i32], b: Ptr[i32], out: Ptr[i64]):
    i = thread_id()
    out[i] = -1
    out[i] = i64(a[i] // b[i])


@kernel
def remainders(a: Ptr[i32], b: Ptr[i32], out: Ptr[i64]):
    i = thread_id()
    out[i] = -1
    a[i] %= b[i]
    out[i] = i64(a[i])


@pytest.mark.parametrize("function", [divides, remainders], ids=lambda function: function.name)
@pytest.mark.parametrize("threads", [1, 100, 10_000])
def test_division_by_zero_stops_that_thread_alone_and_names_its_line(device, function, threads):
    a = np.arange(threads, dtype=np.int32)
    b = (a % 7 - 3).astype(np.int32)
    b[0] = 0
    out = device.zeros(threads, i64)
    with pytest.raises(lw.TrapError, match="integer division by zero") as caught:
        function[threads](device.array(a), device.array(b), out).wait()
    assert caught.value.thread == 0
    assert caught.value.threads == (b == 0).sum()
    assert caught.value.line == line_of(function, "b[i]")
    assert caught.value.filename == __file__
    safe = np.where(b == 0, 1, b)
    wanted = a // safe if function is divides else a % safe
    assert out.get().tolist() == np.where(b == 0, -1, wanted).tolist()


@kernel
def asserts(a: Ptr[u32], out: Ptr[i64]):
    i = thread_id()
    assert a[i] < 100, "too large"
    assert a[i] != 50
    out[i] = 1


@pytest.mark.parametrize(
    ("bad", "message", "text"),
    [
        (200, "assertion failed: too large", "assert a[i] < 100"),
        (50, "assertion failed: a[i] != 50", "assert a[i] != 50"),
    ],
)
def test_an_assertion_that_fails_names_file_line_thread_and_message(device, bad, message, text):
    a = np.arange(40, dtype=np.uint32)
    a[[17, 30]] = bad
    out = device.zeros(a.size, i64)
    with pytest.raises(lw.TrapError) as caught:
        asserts[a.size, 32](device.array(a), out).wait()
    line = line_of(asserts, text)
    assert str(caught.value).endswith(
        f"test_control_flow.py:{line}: {message}, in thread 17 of kernel asserts (and 1 other threads stopped too)"
    )
    assert (caught.value.filename, caught.value.line, caught.value.kernel) == (__file__, line, "asserts")
    assert out.get().sum() == 38
