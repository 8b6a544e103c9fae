"""Mathematical functions against NumPy in a wider type, over all exponents and the special values of each."""

import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import Ptr, f32, f64, grid_range, kernel, thread_id, u32
from lanewise.lang import math as library

ONE_ARGUMENT = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "cbrt": np.cbrt,
}
TWO_ARGUMENTS = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot}
EXACT = {"fmod": np.fmod, "floor_divide": np.floor_divide, "floor_mod": np.mod}

SAMPLES = 60_000
MAX_ULPS = 2.0
WIDER = {f32: np.float64, f64: np.longdouble}
SPECIAL = {
    # Where exp and its kin overflow, become subnormal and become 0; the number closest to a multiple of pi/2.
    f32: (88.72, 88.73, 89.41, 89.42, -87.4, -103.9, -104.0, 127.99, 128.0, -126.5, -149.0, -150.0, 16367173 * 2.0**72),
    f64: (
        *(709.78, 709.79, 710.47, 710.48, -708.4, -745.1, -745.2, 1023.99, 1024.0, -1022.5, -1074.0, -1075.0),
        *(6381956970095103 * 2.0**797, 1e22, 1e300),
    ),
}

POWERS = (
    (1.0, np.nan, 1.0),
    (np.nan, 0.0, 1.0),
    (np.nan, -0.0, 1.0),
    (-1.0, np.inf, 1.0),
    (-1.0, -np.inf, 1.0),
    (0.5, -np.inf, np.inf),
    (-2.0, np.inf, np.inf),
    (2.0, -np.inf, 0.0),
    (0.0, -3.0, np.inf),
    (-0.0, -3.0, -np.inf),
    (-0.0, -2.0, np.inf),
    (-0.0, 3.0, -0.0),
    (-0.0, 2.5, 0.0),
    (-np.inf, 3.0, -np.inf),
    (-np.inf, -3.0, -0.0),
    (-np.inf, 2.5, np.inf),
    (-8.0, 1 / 3, np.nan),
    (-2.0, 3.0, -8.0),
    (2.0, 0.5, np.sqrt(2)),
    (10.0, 10.0, 1e10),
    (3.0, 13.0, 3.0**13),
)
"""x, y and x ** y where C99 says what it must be, or where the result is a number of both types."""


def make_kernel(name, T):
    """A kernel that applies a function of the library to every element."""
    function = getattr(library, name)

    @kernel
    def apply_one(x: Ptr[T], n: u32, out: Ptr[T]):
        for i in grid_range(n):
            out[i] = function(x[i])

    @kernel
    def apply_two(x: Ptr[T], y: Ptr[T], n: u32, out: Ptr[T]):
        for i in grid_range(n):
            out[i] = function(x[i], y[i])

    return apply_one if name in ONE_ARGUMENT else apply_two


def evaluate(device, name, T, *arguments):
    """What the device makes of these arrays."""
    out = device.zeros(arguments[0].size, T)
    buffers = [device.array(argument) for argument in arguments]
    make_kernel(name, T)[device.threads_to_fill()](*buffers, arguments[0].size, out).wait()
    return out.get()


def special_values(T):
    """Zeros, infinities, NaN, the ends of the range, the neighbours of 1, and where functions change their ways."""
    info = np.finfo(T.dtype)
    positive = (0, 0.1, 0.5, 1, 1 - info.epsneg, 1 + info.eps, 1.5, 2, 3, 10, 2.0 ** (info.nmant + 1), 1e10, np.inf)
    ends = (info.max, info.tiny, info.smallest_subnormal, info.tiny - info.smallest_subnormal)
    sizes = np.array([*positive, *ends, *SPECIAL[T]], T.dtype)
    return np.concatenate([sizes, -sizes, np.array([np.nan], T.dtype)])


def sweep(T, seed):
    """All special values, random bit patterns, everyday numbers, numbers close to 1, and close to multiples of pi/2."""
    rng = np.random.default_rng(seed)
    patterns = rng.integers(0, 2**T.bits, SAMPLES, dtype=np.uint64).astype(f"u{T.size}").view(T.dtype)
    parts = [
        rng.uniform(-10, 10, SAMPLES),
        rng.standard_normal(SAMPLES) * 10.0 ** rng.uniform(-3, 6, SAMPLES),
        1 + rng.standard_normal(SAMPLES) * 10.0 ** rng.uniform(-15, 0, SAMPLES),
        np.pi / 2 * rng.integers(-(10**6), 10**6, SAMPLES),
    ]
    return np.concatenate([special_values(T), patterns, *(part.astype(T.dtype) for part in parts)])


def pairs(T):
    """All pairs of special values, unrelated pairs, pairs of one magnitude, and powers that stay in range."""
    rng = np.random.default_rng(3)
    x, y = sweep(T, 1), rng.permutation(sweep(T, 2))
    grid = np.meshgrid(special_values(T), special_values(T))
    with np.errstate(all="ignore"):
        scaled = x * rng.uniform(-30, 30, x.size).astype(T.dtype)
    bases = np.exp(rng.uniform(-5, 5, SAMPLES))
    reach = np.log(np.finfo(T.dtype).max) / 5
    exponents = rng.uniform(-reach, reach, SAMPLES)
    return (
        np.concatenate([grid[0].ravel(), x, x, bases.astype(T.dtype)]),
        np.concatenate([grid[1].ravel(), y, scaled, exponents.astype(T.dtype)]),
    )


def arguments_of(name, T):
    return (sweep(T, 0),) if name in ONE_ARGUMENT else pairs(T)


def reference(name, T, arguments):
    """NumPy's result: in a wider type, except for functions that are exact."""
    with np.errstate(all="ignore"):
        if name in EXACT:
            return EXACT[name](*arguments)
        function = ONE_ARGUMENT.get(name) or TWO_ARGUMENTS[name]
        return function(*(argument.astype(WIDER[T]) for argument in arguments))


def ulps_off(got, want):
    """How far results are from wider ones, in units of the last place; infinite where NaN or a sign differs."""
    dtype = got.dtype
    with np.errstate(all="ignore"):
        rounded = want.astype(dtype)
        info = np.finfo(dtype)
        # Beyond the largest number an infinity stands for the next power of two.
        end = want.dtype.type(2) ** info.maxexp
        size = np.clip(np.abs(rounded), info.tiny, info.max)
        distance = np.abs(np.clip(got, -end, end) - np.clip(want, -end, end)) / np.spacing(size)
        distance[np.isnan(got) & np.isnan(rounded)] = 0
        distance[np.isnan(got) != np.isnan(rounded)] = np.inf
        distance[~np.isnan(rounded) & (np.signbit(got) != np.signbit(rounded))] = np.inf
    return distance.astype(np.float64)


def describe(name, index, arguments, got, want):
    """The worst argument with both results."""
    shown = ", ".join(repr(argument[index]) for argument in arguments)
    return f"{name}({shown}) = {got[index]!r}, not {want[index]!r}"


def assert_nan_is_canonical(got):
    bits = got[np.isnan(got)].view(f"u{got.itemsize}")
    assert set(bits.tolist()) <= {0x7FC00000 if got.itemsize == 4 else 0x7FF8000000000000}


@pytest.mark.parametrize("T", [f32, f64], ids=str)
@pytest.mark.parametrize("name", [*ONE_ARGUMENT, *TWO_ARGUMENTS])
def test_close_to_the_exact_value(device, name, T):
    arguments = arguments_of(name, T)
    got, want = evaluate(device, name, T, *arguments), reference(name, T, arguments)
    distance = ulps_off(got, want)
    worst = int(np.argmax(distance))
    assert distance[worst] <= MAX_ULPS, describe(name, worst, arguments, got, want)
    assert_nan_is_canonical(got)


@pytest.mark.parametrize("T", [f32, f64], ids=str)
@pytest.mark.parametrize("name", EXACT)
def test_remainders_are_exact(device, name, T):
    arguments = arguments_of(name, T)
    got, want = evaluate(device, name, T, *arguments), reference(name, T, arguments)
    same = (np.isnan(got) & np.isnan(want)) | ((got == want) & (np.signbit(got) == np.signbit(want)))
    assert same.all(), describe(name, int(np.argmin(same)), arguments, got, want)
    assert_nan_is_canonical(got)


@pytest.mark.parametrize("T", [f32, f64], ids=str)
def test_float_operators_are_python_s(device, T):
    @kernel
    def operators(x: Ptr[T], y: Ptr[T], n: u32, out: Ptr[T]):
        for i in grid_range(n):
            out[3 * i] = x[i] // y[i]
            out[3 * i + 1] = x[i] % y[i]
            out[3 * i + 2] = x[i] ** y[i]

    x = np.array([7.5, -7.5, 7.5, -7.5, 0.25, -0.0, 6.0, -8.0], T.dtype)
    y = np.array([2.0, 2.0, -2.0, -2.0, 3.0, 3.0, 3.0, 3.0], T.dtype)
    out = device.zeros(3 * x.size, T)
    operators[device.threads_to_fill()](device.array(x), device.array(y), x.size, out).wait()
    numbers = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    expected = np.array([(a // b, a % b, a**b) for a, b in numbers], T.dtype)
    np.testing.assert_array_equal(out.get().reshape(-1, 3), expected)


@pytest.mark.parametrize("T", [f32, f64], ids=str)
def test_special_powers(device, T):
    x, y, want = np.array(POWERS, T.dtype).T.copy()
    got = evaluate(device, "pow", T, x, y)
    np.testing.assert_array_equal(got, want)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


@pytest.mark.parametrize("T", [f32, f64], ids=str)
def test_powers_of_two_have_exact_logarithms(device, T):
    info = np.finfo(T.dtype)
    exponents = np.arange(info.minexp - info.nmant, info.maxexp, dtype=np.int32)
    powers = np.ldexp(T.dtype.type(1), exponents)
    np.testing.assert_array_equal(evaluate(device, "log2", T, powers), exponents)
    np.testing.assert_array_equal(evaluate(device, "exp2", T, exponents.astype(T.dtype)), powers)


@pytest.mark.parametrize("T", [f32, f64], ids=str)
def test_classification(device, T):
    isnan, isinf, isfinite = library.isnan, library.isinf, library.isfinite

    @kernel
    def classify(x: Ptr[T], n: u32, out: Ptr[u32]):
        for i in grid_range(n):
            out[i] = u32(isnan(x[i])) + 2 * u32(isinf(x[i])) + 4 * u32(isfinite(x[i]))

    x = sweep(T, 4)
    out = device.zeros(x.size, u32)
    classify[device.threads_to_fill()](device.array(x), x.size, out).wait()
    np.testing.assert_array_equal(out.get(), np.isnan(x) + 2 * np.isinf(x) + 4 * np.isfinite(x))


@pytest.mark.parametrize("T", [f32, f64], ids=str)
@pytest.mark.parametrize("name", [*ONE_ARGUMENT, *TWO_ARGUMENTS, *EXACT])
def test_devices_agree_on_every_bit(name, T):
    try:
        cuda = lw.device("cuda")
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))
    arguments = arguments_of(name, T)
    here = evaluate(lw.device("cpu"), name, T, *arguments).view(f"u{T.size}")
    there = evaluate(cuda, name, T, *arguments).view(f"u{T.size}")
    np.testing.assert_array_equal(here, there)


@kernel
def powers_three_ways(x: Ptr[f64], builtin: Ptr[f64], operator: Ptr[f64], square: Ptr[f64]):
    i = thread_id()
    builtin[i] = pow(x[i], 1.5)
    operator[i] = x[i] ** 1.5
    square[i] = x[i] ** 2


def test_pythons_own_pow_and_the_operator_are_the_same_function(device):
    x = np.linspace(0.1, 50, 997)
    outs = [device.zeros(x.size, f64) for _ in range(3)]
    powers_three_ways[x.size](device.array(x), *outs)
    by_builtin, by_operator, squares = (out.get() for out in outs)
    np.testing.assert_array_equal(by_builtin, by_operator)
    np.testing.assert_allclose(by_builtin, x**1.5, rtol=1e-15)
    np.testing.assert_array_equal(squares, x * x)
