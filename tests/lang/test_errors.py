"""Every mistake that the language rejects: the message, the hint, and the exact text that the caret stands under.

A mistake is a plain function with `@mistake`, which names the text under the caret; the test finds where that text
stands in the function's own source, so that no line or column is counted by hand.
"""

# The snippets are wrong on purpose, in ways that a linter sees too.
# ruff: noqa: C416, E731

import functools
import importlib.util
import inspect
import math
import sys

import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import (
    ON_GPU,
    Ptr,
    addressof,
    atomic_add,
    atomic_compare_exchange,
    atomic_load,
    atomic_min,
    bitcast,
    clock,
    device,
    f32,
    f64,
    fma,
    grid_range,
    i8,
    i32,
    i64,
    kernel,
    lane_id,
    local_id,
    memory_barrier,
    mul_high,
    popcount,
    shared,
    sqrt,
    struct,
    thread_id,
    threadgroup_barrier,
    u8,
    u32,
    u64,
    warp_reduce_add,
    warp_reduce_and,
)
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.abi_nvptx import NvptxAbi
from lanewise.lang.program import lower_kernel

MISTAKES = []


def mistake(message, at, hint=""):
    """Register a function as a kernel to be refused; `at` is the text under the caret, or «it» in its context."""

    def register(function):
        MISTAKES.append(pytest.param(function, message, at, hint, id=function.__name__))
        return function

    return register


def place_of(function, at):
    """The line, the column and the length of a text that stands once in the source of a function, behind its name."""
    before, marked, behind = at.partition("«")
    text, _, after = behind.partition("»") if marked else (before, "", "")
    before = before if marked else ""
    source, first = inspect.getsource(function), function.__code__.co_firstlineno
    body = source.index("def " + function.__name__) + len("def " + function.__name__)
    assert source.count(before + text + after, body) == 1, f"{at!r} must stand once in {function.__name__}"
    start = source.index(before + text + after, body) + len(before)
    column = start - (source.rfind("\n", 0, start) + 1)
    return first + source.count("\n", 0, start), column + 1, len(text)


@pytest.mark.parametrize("abi", [HostAbi, NvptxAbi])
@pytest.mark.parametrize(("function", "message", "at", "hint"), MISTAKES)
def test_each_mistake_is_an_error_with_a_caret_under_it(abi, function, message, at, hint):
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(kernel(function), abi())
    error = caught.value
    line, column, length = place_of(function, at)
    assert message in error.message
    assert hint in error.hint
    assert bool(hint) == bool(error.hint)
    assert (error.filename, error.line, error.column) == (__file__, line, column)
    shown = str(error).split("\n")
    source = inspect.getsourcelines(sys.modules[__name__])[0][line - 1].rstrip()
    assert shown[0].endswith(f":{line}:{column}: error: {error.message}")
    assert shown[1] == f"{line:>6} | {source}"
    assert shown[2] == "       | " + " " * (column - 1) + "^" * length
    assert shown[3:] == ["    " + text for text in error.hint.split("\n") if text]


# --- what the snippets use -------------------------------------------------------------------------------------------


@struct
class Point:
    """A struct to misuse."""

    x: f32
    y: f32
    tags: u32[4]


TABLE = np.arange(4, dtype=np.uint32)
SQUARE_TABLE = np.zeros((2, 2), np.float32)
NAMES = ["a", "b"]
SETTINGS = {"a": 1}
LIMIT = 5


@device
def half(x: f32) -> f32:
    return x * 0.5


@device
def nothing(x: f32):
    x = x + 1.0


@device
def both(x: f32) -> tuple[f32, f32]:
    return x, -x


@device
def waits(x: u32) -> u32:
    threadgroup_barrier()
    return x


@kernel
def launched(p: Ptr[u32]):
    p[0] = 1


def plain(x):
    return x


# --- types -----------------------------------------------------------------------------------------------------------


@mistake("f32 cannot index an array", "p[0] * 256.0", "write u32(...) to convert")
def float_index(p: Ptr[f32], q: Ptr[u32]):
    q[p[0] * 256.0] = 1


@mistake("f32 cannot index an array", "p[0]", "write u32(...) to convert")
def float_index_of_a_fixed_array(p: Ptr[f32], q: Ptr[Point]):
    q.tags[p[0]] = 1


@mistake("bool cannot index an array", "x > 1", "write u32(...) to convert")
def bool_index(p: Ptr[f32], x: u32):
    p[x > 1] = 1.0


@mistake("u32 and f32 do not mix", "a + b", "write f32(...) around one of them")
def mixed_types(p: Ptr[f32], a: u32, b: f32):
    p[0] = a + b


@mistake("u32 and i32 do not mix", "a < b", "around one of them")
def mixed_signs(p: Ptr[f32], a: u32, b: i32):
    if a < b:
        p[0] = 1.0


@mistake("u32 and i64 do not mix", "x += y", "write i64(...) around one of them")
def mixed_augmented(x: u32, y: i64):
    x += y


@mistake("u32 has no operator /", "a / b", "write // for whole numbers")
def true_division_of_integers(p: Ptr[u32], a: u32, b: u32):
    p[0] = a / b


@mistake("f32 has no operator &", "a & b", "bit operations need integers")
def bits_of_a_float(p: Ptr[f32], a: f32, b: f32):
    p[0] = a & b


@mistake("bool has no operator +", "a + b")
def sum_of_bools(p: Ptr[bool], a: bool, b: bool):
    p[0] = a + b


@mistake("bool has no order", "a < b", "compare with == or !=")
def order_of_bools(p: Ptr[bool], a: bool, b: bool):
    p[0] = a < b


@mistake("expected bool, this is 1", "a == «1»", "write True or False")
def bool_compared_with_a_number(p: Ptr[bool], a: bool):
    p[0] = a == 1


@mistake("expected u32, this is True", "True", "write u32(True) to convert")
def number_compared_with_a_bool(p: Ptr[bool], a: u32):
    p[0] = a == True


@mistake("Ptr[u32] has no operator *", "p * p")
def product_of_pointers(p: Ptr[u32]):
    p = p * p


@mistake("f32 cannot move a pointer", "f32(1.5)", "add a whole number of elements")
def pointer_moved_by_a_float(p: Ptr[u32]):
    p = p + f32(1.5)


@mistake("f32 has no operator <<", "1 << «x»", "shifts are for integers")
def shift_by_a_float(p: Ptr[u32], x: f32):
    p[0] = 1 << x


@mistake("** is for floats", "x**3", "multiply, or write f32(...) ** f32(...)")
def integer_power(p: Ptr[u32], x: u32):
    p[0] = x**3


@mistake("2.0 is a float and meets i32", "2.0", "or write i32(2.0) to cut off the fraction")
def integer_to_a_float_power(p: Ptr[i32], x: i32):
    p[0] = x**2.0


@mistake("device code has no matrix product", "x @ x", "write the loops")
def matrix_product(p: Ptr[u32], x: u32):
    p[0] = x @ x


@mistake("device code has no matrix product", "x @= x", "write the loops")
def augmented_matrix_product(x: u32):
    x @= x


@mistake("bool has no such operator", "-flag", "write `not` for a bool")
def minus_a_bool(p: Ptr[bool], flag: bool):
    p[0] = -flag


@mistake("bool has no such operator", "~True", "write `not` for a bool")
def inverted_true(p: Ptr[i32]):
    p[0] = ~True


@mistake("~ is for integers", "~x")
def inverted_float(p: Ptr[f32], x: f32):
    p[0] = ~x


@mistake("~ is for integers", "~1.5")
def inverted_float_literal(p: Ptr[f32]):
    p[0] = ~1.5


@mistake("Ptr[f32] has no such operator", "-p")
def minus_a_pointer(p: Ptr[f32]):
    p = -p


@mistake("p[0] is f32, this is u32", "p[0] = «x»", "write f32(...) to convert")
def stored_in_another_type(p: Ptr[f32], x: u32):
    p[0] = x


@mistake("total is u32, this is f32", "p[0]", "write u32(...) to convert")
def assigned_in_another_type(p: Ptr[f32]):
    total = u32(0)
    total = p[0]


@mistake("y is u32, this is f32", "y: u32 = «x»", "write u32(...) to convert")
def declared_in_another_type(x: f32):
    y: u32 = x


@mistake("x is u32 already", "x: f32 = 1.0", "use another name")
def declared_twice(x: u32):
    x: f32 = 1.0


@mistake("parameter x of half is f32, this is u32", "half(«n»)", "write f32(...) to convert")
def wrong_argument_type(p: Ptr[f32], n: u32):
    p[0] = half(n)


@mistake("Ptr[f32] and Ptr[u32] do not mix", "p == q")
def pointers_of_two_types(p: Ptr[f32], q: Ptr[u32]):
    if p == q:
        p[0] = 1.0


@mistake("expected Ptr[u32], this is the number 0", "p != «0»")
def pointer_compared_with_zero(p: Ptr[u32]):
    if p != 0:
        p[1] = 1


@mistake("q is Ptr[u32], this is Ptr[f32]", "q = «p»", "write Ptr[u32](...) to convert")
def pointer_to_another_type(p: Ptr[f32], q: Ptr[u32]):
    q = p


@mistake("expected bool, this is u32", "if «x»:", "write `!= 0` to test a number")
def if_on_a_number(x: u32):
    if x:
        x = 1


@mistake("expected bool, this is f32", "while «x»:", "write `!= 0` to test a number")
def while_on_a_number(x: f32):
    while x:
        x = x - 1.0


@mistake("expected bool, this is 1", "while «1»:", "write True or False")
def while_one(x: u32):
    while 1:
        x += 2


@mistake("expected bool, this is u32", "and «x»:", "write `!= 0` to test a number")
def and_on_a_number(p: Ptr[u32], flag: bool, x: u32):
    if flag and x:
        p[0] = 1


@mistake("expected bool, this is u32", "not «x»:", "write `!= 0` to test a number")
def not_on_a_number(x: u32):
    if not x:
        x = 1


@mistake("expected bool, this is u32", "if «x» else", "write `!= 0` to test a number")
def conditional_on_a_number(x: u32):
    x = u32(1) if x else u32(2)


@mistake("expected bool, this is u32", "assert «x»", "write `!= 0` to test a number")
def assert_on_a_number(x: u32):
    assert x


@mistake("u32 and f32 do not mix", "x if y > 1.0 else y", "write f32(...) around one of them")
def conditional_of_two_types(x: u32, y: f32):
    z = x if y > 1.0 else y


@mistake("bool and i32 do not mix", "True if x > 1 else 5")
def conditional_of_bool_and_number(x: u32):
    z = True if x > 1 else 5


@mistake("u32 cannot be indexed", "«x»[0]", "only pointers and fixed arrays can")
def index_of_a_number(x: u32):
    x = x[0]


@mistake("one element at a time", "0:2", "index with a single whole number")
def slice_of_a_pointer(p: Ptr[u32]):
    p[0:2] = 1


@mistake("one element at a time", "0, 1", "index with a single whole number")
def two_indices(p: Ptr[u32]):
    p[0, 1] = 1


@mistake("u32 has no fields", "x.y", "only structs and pointers to them have")
def field_of_a_number(x: u32):
    x = x.y


@mistake("Point has no field z", "p.z", "its fields are x, y, tags")
def unknown_field(p: Ptr[Point]):
    p.z = 1.0


@mistake("expected u32, this is u32[4]", "x = «p.tags»")
def array_as_a_value(p: Ptr[Point], x: u32):
    x = p.tags


@mistake("struct Point is no single value", "p[0]", "name one of its fields")
def struct_as_a_value(p: Ptr[Point]):
    x = p[0] + 1


@mistake("expected Point, this is u32[4]", "p.tags")
def array_into_a_struct(p: Ptr[Point]):
    p[0] = p.tags


@mistake("expected Point, this is the number 5", "5")
def number_into_a_struct(p: Ptr[Point]):
    p[0] = 5


# --- literals --------------------------------------------------------------------------------------------------------


@mistake("a pointer does not know its end", "-1", "pass the size and write p[n - 1]")
def last_element_as_in_numpy(p: Ptr[f32]):
    p[-1] = 0.0


@mistake("300 does not fit u8", "300", "convert what it meets, such as i32(...), or write u8(...) to wrap it")
def literal_too_large(p: Ptr[u8]):
    p[0] = 300


@mistake("-1 does not fit u32", "-1", "it holds 0 to 4294967295")
def negative_literal_meets_unsigned(p: Ptr[u32], x: u32):
    p[0] = x + -1


@mistake("128 does not fit i8", "128", "it holds -128 to 127")
def literal_argument_too_large(p: Ptr[i8]):
    p[0] = max(p[1], 128)


@mistake("1.5 is a float and meets u32", "1.5", "convert what it meets, such as f32(...)")
def float_literal_to_an_integer(p: Ptr[u32]):
    p[0] = 1.5


@mistake("4.0 is a float and meets u32", "8 / 2", "or write u32(4.0) to cut off the fraction")
def divided_literals_to_an_integer(p: Ptr[u32]):
    p[0] = 8 / 2


@mistake("1e+300 is too large for f32", "1e300", "write f64(...) around the other operand")
def literal_too_large_for_f32(p: Ptr[f32]):
    p[0] = p[0] + 1e300


@mistake("a number of 1329 bits is too large for f64", "10**400")
def integer_literal_too_large_for_f64(p: Ptr[f64]):
    p[0] = p[0] + 10**400


@mistake("18446744073709551616 does not fit 64 bits", "1 << 64")
def literal_of_65_bits(p: Ptr[u64]):
    x = 1 << 64


@mistake("9 ** 9 ** 9 is too large a number", "9**9**9")
def power_without_end(p: Ptr[u64]):
    p[0] = 9**9**9


@mistake("a shift by 100000 is too large", "100000")
def literal_shifted_far(p: Ptr[u64]):
    p[0] = 1 << 100000


@mistake("(-1) ** 0.5 is a complex number", "(-1) ** 0.5")
def complex_power(p: Ptr[f64]):
    p[0] = (-1) ** 0.5


@mistake("a complex number has no meaning", "1j", "values are numbers, bools and pointers")
def complex_literal(p: Ptr[f64]):
    p[0] = 1j


@mistake("a string has no meaning", '"text"', "values are numbers, bools and pointers")
def string_literal(p: Ptr[u32]):
    p[0] = "text"


@mistake("None has no meaning", "None", "values are numbers, bools and pointers")
def none_as_a_value(p: Ptr[u32]):
    p[0] = None


@mistake("Ellipsis has no meaning", "...", "values are numbers, bools and pointers")
def ellipsis_as_a_body(p: Ptr[u32]): ...


@mistake("integer division by zero", "// «0»")
def division_by_literal_zero(p: Ptr[u32]):
    p[0] = p[1] // 0


@mistake("integer division by zero", "u32(0)")
def remainder_by_typed_zero(p: Ptr[u32]):
    p[0] = p[1] % u32(0)


@mistake("1 // 0: ", "1 // 0")
def literals_divided_by_zero(p: Ptr[u32]):
    p[0] = 1 // 0


@mistake("1 << -1: negative shift count", "1 << -1")
def literal_shifted_by_less_than_nothing(p: Ptr[u32]):
    p[0] = 1 << -1


@mistake("4 is outside u32[4]", "tags[«4»]", "it has elements 0 to 3")
def constant_index_outside(p: Ptr[Point]):
    p.tags[4] = 1


@mistake("-1 is outside u32[4]", "-1", "it has elements 0 to 3")
def negative_constant_index(p: Ptr[Point]):
    p.tags[-1] = 1


@mistake("4 is outside u32[4]", "LIMIT - 1", "it has elements 0 to 3")
def constant_index_outside_a_table(p: Ptr[u32]):
    p[0] = TABLE[LIMIT - 1]


# --- names -----------------------------------------------------------------------------------------------------------


@mistake("unknown name lenght", "«lenght» + 1", "did you mean length?")
def unknown_name(length: u32):
    length = lenght + 1


@mistake("unknown name thread_idd", "thread_idd", "did you mean thread_id?")
def unknown_function(p: Ptr[u32]):
    p[0] = thread_idd()


@mistake("unknown name zqxj", "zqxj")
def unknown_name_like_no_other(p: Ptr[u32]):
    p[0] = zqxj


@mistake("math has no tau_squared", "math.tau_squared")
def unknown_name_in_a_module(p: Ptr[f64]):
    p[0] = math.tau_squared


@mistake("x is used before it is assigned", "p[0] = «x»", "assign it before this line")
def used_before_assignment(p: Ptr[u32]):
    p[0] = x
    x = 1


@mistake("LIMIT is used before it is assigned", "p[0] = «LIMIT»", "assign it before this line")
def constant_shadowed_later(p: Ptr[u32]):
    p[0] = LIMIT
    LIMIT = 3


@mistake("half is used before it is assigned", "«half»(p[0])", "assign it before this line")
def function_shadowed_later(p: Ptr[f32]):
    p[0] = half(p[0])
    half = f32(1)


@mistake("LIMIT is used before it is assigned", "LIMIT", "assign it before this line")
def constant_augmented(p: Ptr[u32]):
    LIMIT += 1


@mistake("x may have no value here", "p[0] = «x»", "assign it on every way to this line")
def assigned_in_one_branch(p: Ptr[u32], n: u32):
    if n > 1:
        x = u32(1)
    p[0] = x


@mistake("x may have no value here", "p[0] = «x»", "assign it on every way to this line")
def assigned_in_some_branches(p: Ptr[u32], n: u32):
    if n > 1:
        x = u32(1)
    elif n > 2:
        n = 4
    else:
        x = u32(3)
    p[0] = x


@mistake("x may have no value here", "p[0] = «x»", "assign it on every way to this line")
def assigned_in_a_loop(p: Ptr[u32], n: u32):
    for i in range(n):
        x = i
    p[0] = x


@mistake("i may have no value here", "p[0] = «i»", "assign it on every way to this line")
def loop_variable_of_a_loop_that_may_not_run(p: Ptr[u32], n: u32):
    for i in range(n):
        pass
    p[0] = i


@mistake("x may have no value here", "p[0] = «x»", "assign it on every way to this line")
def assigned_behind_a_break(p: Ptr[u32], n: u32):
    while True:
        if n > 3:
            break
        x = n
        n += 1
    p[0] = x


@mistake("x is used before it is assigned", "p[0] = «x»", "assign it before this line")
def used_in_the_next_trip(p: Ptr[u32], n: u32):
    for i in range(n):
        if i > 1:
            p[0] = x
        x = i


@mistake("x may have no value here", "p[0] = «x»", "assign it on every way to this line")
def declared_without_a_value(p: Ptr[u32]):
    x: u32
    p[0] = x


@mistake("x may have no value here", "«x» += 1", "assign it on every way to this line")
def augmented_without_a_value(p: Ptr[u32]):
    x: u32
    x += 1


@mistake("only functions can be called", "«p»(1)")
def call_of_a_value(p: Ptr[u32]):
    p(1)


@mistake("only functions can be called", "p.append")
def method_call(p: Ptr[u32]):
    p.append(1)


@mistake("half is a function", "p[0] = «half»", "call it: add (...)")
def function_as_a_value(p: Ptr[f32]):
    p[0] = half


@mistake("thread_id is a function", "thread_id", "call it: add (...)")
def forgotten_parentheses(p: Ptr[u32]):
    p[0] = thread_id


@mistake("NAMES is a list", "NAMES", "make it a NumPy array to use it as a table")
def list_as_a_table(p: Ptr[u32]):
    p[0] = NAMES[0]


@mistake("SETTINGS is dict, which device code cannot hold", "SETTINGS", "constants are numbers, bools and NumPy arrays")
def dict_as_a_constant(p: Ptr[u32]):
    p[0] = SETTINGS["a"]


@mistake("a table is a one-dimensional NumPy array of numbers", "SQUARE_TABLE")
def table_of_two_dimensions(p: Ptr[f32]):
    p[0] = SQUARE_TABLE[0]


@mistake("a module-level table is constant", "TABLE[0]", "copy it to memory of your own first")
def store_to_a_table(p: Ptr[u32]):
    TABLE[0] = 1


@mistake("this cannot be assigned to", "TABLE[0]")
def augmented_table(p: Ptr[u32]):
    TABLE[0] += 1


@mistake("a module-level table is constant", "TABLE[0]")
def address_of_a_table(p: Ptr[u32]):
    p = addressof(TABLE[0])


@mistake("tile stands for an array already", "«tile» = p[1].tags", "use another name")
def array_name_used_twice(p: Ptr[Point]):
    tile = p[0].tags
    tile = p[1].tags


@mistake("tile is u32[4] already", "tile: u32[4]", "use another name")
def array_name_declared_later(p: Ptr[Point]):
    tile = p[0].tags
    tile: u32[4]


# --- syntax ----------------------------------------------------------------------------------------------------------


@mistake("a list has no meaning in device code", "[1, 2]", "declare a fixed array: `name: f32[16]`")
def list_display(p: Ptr[u32]):
    x = [1, 2]


@mistake("a dict has no meaning", "{1: 2}")
def dict_display(p: Ptr[u32]):
    x = {1: 2}


@mistake("a set has no meaning", "{1, 2}")
def set_display(p: Ptr[u32]):
    x = {1, 2}


@mistake("a lambda has no meaning", "lambda y: y")
def lambda_expression(p: Ptr[u32]):
    x = lambda y: y


@mistake("a comprehension has no meaning", "[i for i in range(3)]", "write a for loop over a fixed array")
def list_comprehension(p: Ptr[u32]):
    x = [i for i in range(3)]


@mistake("a comprehension has no meaning", "{i for i in range(3)}")
def set_comprehension(p: Ptr[u32]):
    x = {i for i in range(3)}


@mistake("a comprehension has no meaning", "{i: i for i in range(3)}")
def dict_comprehension(p: Ptr[u32]):
    x = {i: i for i in range(3)}


@mistake("a generator has no meaning", "(i for i in range(3))")
def generator_expression(p: Ptr[u32]):
    x = (i for i in range(3))


@mistake("an f-string has no meaning", 'f"{p}"')
def f_string(p: Ptr[u32]):
    x = f"{p}"


@mistake("an assignment expression has no meaning", "x := 1", "assign on a line of its own")
def walrus(p: Ptr[u32]):
    p[0] = (x := 1)


@mistake("yield has no meaning", "yield 1", "write thread_yield() to let other threads go on")
def yield_expression(p: Ptr[u32]):
    yield 1


@mistake("yield has no meaning", "yield from p")
def yield_from(p: Ptr[u32]):
    yield from p


@mistake("unpacking has no meaning", "*x")
def starred_argument(p: Ptr[f32], x: u32):
    p[0] = half(*x)


@mistake("min takes its arguments one by one", "*x")
def starred_argument_of_a_word(p: Ptr[u32], x: u32):
    p[0] = min(*x)


@mistake("device functions take their arguments by position", "2.0")
def keyword_argument(p: Ptr[f32]):
    p[0] = half(x=2.0)


@mistake("device functions take their arguments by position", "**«x»")
def double_starred_argument(p: Ptr[f32], x: u32):
    p[0] = half(**x)


@mistake("sqrt has no keyword x", "2.0", "it takes arguments by position")
def keyword_argument_of_a_word(p: Ptr[f32]):
    p[0] = sqrt(x=2.0)


@mistake("memory_barrier has no keyword to", '"all"', "it knows scope")
def unknown_keyword(p: Ptr[f32]):
    memory_barrier(to="all")


@mistake('scope must be one of "group", "device", "system"', '"warp"')
def unknown_scope(p: Ptr[f32]):
    memory_barrier(scope="warp")


@mistake('order must be one of "relaxed", "acquire", "seq_cst"', '"release"')
def order_that_a_load_has_not(p: Ptr[u32]):
    p[0] = atomic_load(p[0], order="release")


@mistake("order must be one of", "LIMIT")
def order_that_is_no_string(p: Ptr[u32]):
    p[0] = atomic_load(p[0], order=LIMIT)


@mistake("print is not a device function", "«print»(1)", "write to an array and print it on the host")
def print_call(p: Ptr[u32]):
    print(1)


@mistake("with has no meaning in device code", "with p:")
def with_statement(p: Ptr[u32]):
    with p:
        pass


@mistake("try has no meaning in device code", "try:")
def try_statement(p: Ptr[u32]):
    try:
        pass
    except ValueError:
        pass


@mistake("raise has no meaning in device code", "raise ValueError", "write assert to stop a thread")
def raise_statement(p: Ptr[u32]):
    raise ValueError


@mistake("a nested function has no meaning", "def inner():", "define it outside and mark it @device")
def nested_function(p: Ptr[u32]):
    def inner():
        pass


@mistake("a class has no meaning", "class Inner:")
def nested_class(p: Ptr[u32]):
    class Inner:
        pass


@mistake("import has no meaning", "import os", "import at the top of the file")
def import_statement(p: Ptr[u32]):
    import os


@mistake("import has no meaning", "from os import path", "import at the top of the file")
def import_from_statement(p: Ptr[u32]):
    from os import path


@mistake("global has no meaning", "global LIMIT", "pass a Ptr to what the function changes")
def global_statement(p: Ptr[u32]):
    global LIMIT


@mistake("del has no meaning", "del p")
def del_statement(p: Ptr[u32]):
    del p


@mistake("match has no meaning", "match n:", "write if and elif")
def match_statement(n: u32):
    match n:
        case 1:
            pass


@mistake("one target at a time", "x = «y» = 1", "write two assignments")
def two_targets(p: Ptr[u32]):
    x = y = 1


@mistake("this is one value and cannot be taken apart", "p[0]")
def one_value_for_two_names(p: Ptr[u32]):
    x, y = p[0]


@mistake("2 values for 3 names", "x, y, z")
def two_values_for_three_names(p: Ptr[f32]):
    x, y, z = both(p[0])


@mistake("a tuple is taken apart into single values", "*y", "write one name for each value")
def starred_target(p: Ptr[f32]):
    x, *y = 1, 2


@mistake("a tuple is taken apart into single values", "(y, z)", "write one name for each value")
def nested_target(p: Ptr[f32]):
    x, (y, z) = 1, 2


@mistake("a tuple is no single value", "x = «1, 2»", "take it apart: `a, b = ...`")
def tuple_as_a_value(p: Ptr[f32]):
    x = 1, 2


@mistake("a tuple is no single value", "both(p[0])", "take it apart: `a, b = ...`")
def tuple_result_as_a_value(p: Ptr[f32]):
    p[0] = both(p[0])


@mistake("this call returns nothing", "nothing(p[0])")
def nothing_as_a_value(p: Ptr[f32]):
    p[0] = 1.0 + nothing(p[0])


@mistake("this call returns nothing", "nothing(p[0])")
def nothing_assigned(p: Ptr[f32]):
    x = nothing(p[0])


@mistake("device code has no `x in p`", "x in p", "compare with ==, !=, <, <=, > or >=")
def membership(p: Ptr[u32], x: u32):
    if x in p:
        x = 1


@mistake("device code has no `p is None`", "p is None", "compare with ==, !=, <, <=, > or >=")
def identity(p: Ptr[u32]):
    if p is None:
        return


@mistake("a loop has no else in device code", "    else:\n        «pass»")
def for_else(n: u32):
    for i in range(n):
        pass
    else:
        pass


@mistake("a loop has no else in device code", "else:\n        «pass»")
def while_else(n: u32):
    while n > 1:
        n -= 1
    else:
        pass


@mistake("a loop counts one name", "i, j")
def for_over_pairs(n: u32):
    for i, j in range(n):
        pass


@mistake("a loop runs over range(...) or grid_range(...)", "in «p»:", "write `for i in range(n):`")
def for_over_a_pointer(p: Ptr[u32]):
    for x in p:
        pass


@mistake("a loop runs over range(...) or grid_range(...)", "enumerate(p)", "write `for i in range(n):`")
def for_over_enumerate(p: Ptr[u32]):
    for x in enumerate(p):
        pass


@mistake("range is not a device function", "x = «range»(3)", "write `for i in range(...):`")
def range_as_a_value(p: Ptr[u32]):
    x = range(3)


@mistake("grid_range is not a device function", "x = «grid_range»(n)", "write `for i in grid_range(...):`")
def grid_range_as_a_value(n: u32):
    x = grid_range(n)


@mistake("a range cannot step by 0", "range(0, n, «0»)")
def range_with_step_zero(n: u32):
    for i in range(0, n, 0):
        pass


@mistake("range takes a stop", "range()")
def range_of_nothing(n: u32):
    for i in range():
        pass


@mistake("a range counts whole numbers, this is f32", "range(x)", "write u32(...) to convert")
def range_of_a_float(x: f32):
    for i in range(x):
        pass


@mistake("expected u32, this is i32", "range(n, «m»)", "write u32(...) to convert")
def range_of_two_types(n: u32, m: i32):
    for i in range(n, m):
        pass


@mistake("-1 does not fit u32", "-1", "it holds 0 to 4294967295")
def unsigned_range_down(n: u32):
    for i in range(n, 0, -1):
        pass


@mistake("n is f32 already, this range counts in u32", "for «n» in", "use another name")
def loop_variable_of_another_type(m: u32, n: f32):
    for n in range(m):
        pass


@mistake("grid_range takes one number", "grid_range(1, n)")
def grid_range_of_two_numbers(n: u32):
    for i in grid_range(1, n):
        pass


@mistake("u8 is too small for grid_range", "grid_range(«n»)", "write u32(...) to convert")
def grid_range_of_a_small_type(n: u8):
    for i in grid_range(n):
        pass


@mistake("f32 cannot be counted to", "grid_range(«n»)", "write u32(...) to convert")
def grid_range_of_a_float(n: f32):
    for i in grid_range(n):
        pass


@mistake("the message of an assert is a plain string", 'f"{n}"')
def assert_with_an_f_string(n: u32):
    assert n > 1, f"{n}"


@mistake("only a name can be declared", "«p[0]»: u32")
def declared_element(p: Ptr[u32]):
    p[0]: u32 = 1


@mistake("u32[4] starts as zeros", "= «1»", "write `a: u32[4]` alone, then assign its parts")
def array_declared_with_a_value(p: Ptr[u32]):
    a: u32[4] = 1


@mistake("a variable cannot be tuple[u32, u32]", "tuple[u32, u32]")
def tuple_variable(p: Ptr[u32]):
    a: tuple[u32, u32] = p


@mistake("not a type of device code", "a: «int»", "write i32, i64 or another sized integer")
def variable_of_type_int(p: Ptr[u32]):
    a: int = 1


@mistake("u32[0]: a fixed array needs a positive whole number of elements", "u32[0]")
def array_of_no_elements(p: Ptr[u32]):
    a: u32[0]


@mistake(
    "this makes 400,000 bytes of local arrays and structs", "«a»: u32", "pass a Ptr to memory allocated on the host"
)
def local_array_too_large(p: Ptr[u32]):
    a: u32[100_000]


# --- functions -------------------------------------------------------------------------------------------------------


@mistake("launched is a kernel", "«launched»(p)", "device code calls @device functions; mark it so")
def call_of_a_kernel(p: Ptr[u32]):
    launched(p)


@mistake("plain is not a device function", "«plain»(p)", "mark it @device to call it from device code")
def call_of_a_plain_function(p: Ptr[u32]):
    plain(p)


@mistake("math.sin is not a device function", "math.sin", "device code calls @device functions")
def call_of_a_python_library(p: Ptr[f64]):
    p[0] = math.sin(1.0)


@mistake("int is not a device function", "«int»(1.5)", "write i32(...) or i64(...)")
def call_of_int(p: Ptr[i32]):
    p[0] = int(1.5)


@mistake("float is not a device function", "«float»(1)", "write f32(...) or f64(...)")
def call_of_float(p: Ptr[f32]):
    p[0] = float(1)


@mistake("Point is not a device function", "«Point»(1.0", "declare `name: Point`, then assign its fields")
def call_of_a_struct(p: Ptr[Point]):
    x = Point(1.0, 2.0)


@mistake("half takes 1 arguments, this passes 2", "half(p[0], p[1])", "it is half(x: f32)")
def too_many_arguments(p: Ptr[f32]):
    p[0] = half(p[0], p[1])


@mistake("half takes 1 arguments, this passes 0", "half()", "it is half(x: f32)")
def too_few_arguments(p: Ptr[f32]):
    p[0] = half()


@mistake("sqrt takes 1 argument, this passes 2", "sqrt(p[0], p[1])")
def too_many_arguments_for_a_word(p: Ptr[f32]):
    p[0] = sqrt(p[0], p[1])


@mistake("min takes 2 to 16 arguments, this passes 1", "min(p[0])")
def minimum_of_one(p: Ptr[f32]):
    p[0] = min(p[0])


@mistake("u32(...) converts one value", "u32()")
def conversion_of_nothing(p: Ptr[u32]):
    p[0] = u32()


@mistake("nothing converts to u32[4]", "u32[4](p)")
def conversion_to_an_array(p: Ptr[u32]):
    x = u32[4](p)


@mistake("an address is 64 bits wide and does not fit u32", "u32(p)", "write u64(...)")
def address_in_32_bits(p: Ptr[u32]):
    p[0] = u32(p)


@mistake("expected u64, this is u32", "Ptr[u32](«x»)", "write u64(...) to convert")
def pointer_from_32_bits(x: u32):
    p = Ptr[u32](x)


@mistake("sqrt takes floats, this is u32", "sqrt(«x»)", "write f32(...) to convert")
def square_root_of_an_integer(x: u32):
    y = sqrt(x)


@mistake("expected f32, this is f64", "fma(x, «y», x)", "write f32(...) to convert")
def fma_of_two_types(x: f32, y: f64):
    z = fma(x, y, x)


@mistake("f32 cannot be looked at bit by bit", "popcount(«x»)", "write u32(...) to convert")
def popcount_of_a_float(x: f32):
    y = popcount(x)


@mistake("mul_high takes two integers of one type", "mul_high(x, x)", "write u32(...) to convert")
def mul_high_of_floats(x: f32):
    y = mul_high(x, x)


@mistake("f64 and u32 are not of one width", "bitcast(u32, x)", "bitcast keeps every bit")
def bitcast_to_another_width(x: f64):
    y = bitcast(u32, x)


@mistake("this must be a scalar type", "bitcast(«x», x)", "such as u32 or f64")
def bitcast_to_no_type(x: f64):
    y = bitcast(x, x)


@mistake("bool has no absolute value", "abs(«flag»)")
def absolute_bool(flag: bool):
    y = abs(flag)


@mistake("only a fixed array has a length", "len(«p»)", "pass the number of elements as a parameter")
def length_of_a_pointer(p: Ptr[u32]):
    p[0] = len(p)


@mistake("warp_reduce_add does not take bool", "warp_reduce_add(flag)", "it takes i8, i16")
def sum_of_bools_over_a_warp(flag: bool):
    x = warp_reduce_add(flag)


@mistake("warp_reduce_and does not take f32", "warp_reduce_and(x)", "it takes i8, i16")
def bits_of_floats_over_a_warp(x: f32):
    y = warp_reduce_and(x)


@mistake("only what is in memory has an address", "addressof(«1»)", "take an element, a field or a variable")
def address_of_a_number(p: Ptr[u32]):
    p = addressof(1)


@mistake("shared takes a fixed array or a struct type", "shared(«f32»)", "write `shared(f32[256])`")
def shared_scalar(p: Ptr[u32]):
    x = shared(f32)


@mistake("shared takes a fixed array or a struct type", "shared(«p»)", "write `shared(f32[256])`")
def shared_value(p: Ptr[u32]):
    x = shared(p)


@mistake("this makes 65536 bytes of group-shared memory", "y = «shared(f32[8192])»", "a group has 49152")
def too_much_shared_memory(p: Ptr[u32]):
    x = shared(f32[8192])
    y = shared(f32[8192])


@mistake("a kernel returns nothing", "-> «u32»", "write results through a Ptr parameter")
def kernel_with_a_result(x: u32) -> u32:
    return x


@mistake("kernel_that_returns_a_value has no return type", "return x", "a kernel writes results through a Ptr")
def kernel_that_returns_a_value(x: u32):
    return x


# --- signatures ------------------------------------------------------------------------------------------------------


@mistake("parameter n has no type", ", «n»)", "write `n: u32`, or the type it has")
def missing_annotation(p: Ptr[u32], n):
    p[0] = 1


@mistake("not a type of device code", "n: «int»", "write i32, i64 or another sized integer")
def parameter_of_type_int(n: int):
    n = 1


@mistake("not a type of device code", "n: «float»", "write f32 or f64")
def parameter_of_type_float(n: float):
    n = 1


@mistake("not a type of device code", "n: «str»", "types are bool, i8 to i64")
def parameter_of_type_str(n: str):
    pass


@mistake("not a type of device code", "n: «None»", "types are bool, i8 to i64")
def parameter_of_type_none(n: None):
    pass


@mistake("not a type of device code: name 'vec3' is not defined", '"vec3"', "types are bool, i8 to i64")
def parameter_of_unknown_type(n: "vec3"):
    pass


@mistake("not a type of device code", '"not a type"', "types are bool, i8 to i64")
def parameter_of_nonsense(n: "not a type"):
    pass


@mistake("u32[4] cannot be passed by value", "u32[4]", "write Ptr[u32]")
def array_parameter(a: u32[4]):
    pass


@mistake("Point cannot be passed by value", "a: «Point»", "write Ptr[Point]")
def struct_parameter(a: Point):
    pass


@mistake("a parameter of device code has no default", "n: u32 = «3»", "pass the value at every call")
def parameter_with_a_default(p: Ptr[u32], n: u32 = 3):
    pass


@mistake("device functions take plain parameters only", "*«rest: u32»", "write `name: type`")
def star_parameter(p: Ptr[u32], *rest: u32):
    pass


@mistake("device functions take plain parameters only", "**«rest: u32»", "write `name: type`")
def double_star_parameter(p: Ptr[u32], **rest: u32):
    pass


@mistake("device functions take plain parameters only", "n: u32", "write `name: type`")
def keyword_only_parameter(p: Ptr[u32], *, n: u32):
    pass


@mistake("device functions take plain parameters only", "n: u32", "write `name: type`")
def positional_only_parameter(n: u32, /):
    pass


# --- atomics ---------------------------------------------------------------------------------------------------------


@mistake("a local variable is seen by one thread only", "atomic_add(«x»", "name an element of a Ptr or shared array")
def atomic_on_a_variable(x: u32):
    atomic_add(x, 1)


@mistake("a local variable is seen by one thread only", "atomic_add(«a[0]»", "name an element of a Ptr or shared array")
def atomic_on_a_local_array(p: Ptr[u32]):
    a: u32[4]
    atomic_add(a[0], 1)


@mistake("a local variable is seen by one thread only", "s.tags[1]", "name an element of a Ptr or shared array")
def atomic_on_a_local_struct(p: Ptr[u32]):
    s: Point
    atomic_add(s.tags[1], 1)


@mistake("an atomic works on memory", "atomic_add(«1», 1)", "name an element or a field, such as `p[0]` or `s.count`")
def atomic_on_a_number(p: Ptr[u32]):
    atomic_add(1, 1)


@mistake("an atomic works on memory", "TABLE[0]", "name an element or a field, such as `p[0]` or `s.count`")
def atomic_on_a_table(p: Ptr[u32]):
    atomic_add(TABLE[0], 1)


@mistake("this atomic does not work on u8", "p[0]", "it works on i32, i64, u32, u64, f32 or f64")
def atomic_on_8_bits(p: Ptr[u8]):
    atomic_add(p[0], 1)


@mistake("this atomic does not work on f32", "p[0]", "it works on i32, i64, u32, u64")
def atomic_min_of_floats(p: Ptr[f32]):
    atomic_min(p[0], 1.0)


@mistake("this atomic does not work on f64", "p[0]", "it works on i32, i64, u32, u64")
def compare_exchange_of_floats(p: Ptr[f64]):
    atomic_compare_exchange(p[0], 1.0, 2.0)


@mistake("this atomic does not work on Ptr[u32]", "p[0]", "it works on i32, i64, u32, u64, f32 or f64")
def atomic_on_a_pointer_itself(q: Ptr[u32], p: Ptr[Ptr[u32]]):
    atomic_add(p[0], 1)


@mistake("expected u32, this is i32", "p[0], «x»", "write u32(...) to convert")
def atomic_with_another_type(p: Ptr[u32], x: i32):
    atomic_add(p[0], x)


@mistake("atomic_add takes 2 arguments, this passes 1", "atomic_add(p[0])")
def atomic_without_a_value(p: Ptr[u32]):
    atomic_add(p[0])


# --- barriers that not all threads come to ---------------------------------------------------------------------------

APART = "not all threads of the group come to this barrier"


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_a_thread_number(p: Ptr[u32]):
    if local_id() < 4:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_a_variable(p: Ptr[u32]):
    me = thread_id() * 2
    odd = me % 4 == 2
    if p[0] > 1:
        if odd:
            p[0] = 1
        else:
            threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_what_memory_holds(p: Ptr[u32]):
    if p[lane_id()] > 1:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_what_an_atomic_gave(p: Ptr[u32]):
    ticket = atomic_add(p[0], 1)
    if ticket == 3:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_a_clock(p: Ptr[u32]):
    if clock() > 1000:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_a_branch_that_diverged_before(p: Ptr[u32]):
    x = u32(0)
    if local_id() > 3:
        x = 1
    if x == 1:
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_loop_of_different_length(p: Ptr[u32]):
    for i in range(local_id()):
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_while_of_different_length(p: Ptr[u32]):
    i = local_id()
    while i < 100:
        threadgroup_barrier()
        i += 10


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_grid_range(n: u32):
    for i in grid_range(n):
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_loop_that_some_leave(p: Ptr[u32]):
    for i in range(4):
        if p[local_id()] == 0:
            break
        threadgroup_barrier()


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_in_a_loop_that_some_skip(p: Ptr[u32]):
    for i in range(4):
        if p[0] == 0:
            if local_id() == 1:
                continue
        threadgroup_barrier()


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_through_a_function(p: Ptr[u32]):
    if local_id() < 4:
        p[0] = p[1] + waits(1)


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_in_the_test_of_a_branch(p: Ptr[u32]):
    if local_id() < 4:
        if waits(1) == 1:
            p[0] = 1


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_in_one_side_of_a_conditional(p: Ptr[u32]):
    p[0] = waits(1) if local_id() < 4 else u32(0)


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_behind_and(p: Ptr[u32]):
    if local_id() < 4 and waits(1) == 1:
        p[0] = 1


@mistake(APART, "threadgroup_barrier()", "differs between threads; move the barrier out of it")
def barrier_under_what_counted_the_trips_of_a_loop_that_some_leave(p: Ptr[u32]):
    trips = u32(0)
    while True:
        if p[local_id()] == trips:
            break
        trips += 1
    if trips > 4:
        threadgroup_barrier()


@mistake(APART, "waits(1)", "differs between threads; move the barrier out of it")
def barrier_in_the_test_of_a_loop(p: Ptr[u32]):
    i = local_id()
    while i + waits(1) < 10:
        i += 1


def test_the_hint_of_a_barrier_names_the_line_of_the_condition():
    function = kernel(barrier_under_a_thread_number)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(function, HostAbi())
    line, _, _ = place_of(barrier_under_a_thread_number, "if local_id() < 4")
    assert f"the condition on line {line} differs" in caught.value.hint


@kernel
def barriers_that_all_come_to(p: Ptr[u32], n: u32):
    if thread_id() >= n:
        return
    for i in range(n):
        if n > 3:
            threadgroup_barrier()
        if i > 2:
            break
    if local_id() < 4:
        for i in range(local_id()):
            if p[i] == 0:
                break
        if ON_GPU:
            p[0] = gpu_only(p[0])
        else:
            p[0] = cpu_only(p[0])
    threadgroup_barrier()
    p[0] += waits(1) if n > 2 else u32(0)
    x = local_id()
    x = n
    while x > 0:
        threadgroup_barrier()
        x //= 2


@device
def gpu_only(x: u32) -> u32:
    return x


@device
def cpu_only(x: u32) -> u32:
    return x


@pytest.mark.parametrize("abi", [HostAbi, NvptxAbi])
def test_barriers_that_all_threads_come_to_are_accepted(abi):
    assert lower_kernel(barriers_that_all_come_to, abi()).facts.barriers


# --- device functions ------------------------------------------------------------------------------------------------

DEVICE_MISTAKES = []


def device_mistake(message, at, hint=""):
    """Register a @device function that must be refused when a kernel calls it with one u32."""

    def register(function):
        DEVICE_MISTAKES.append(pytest.param(function, message, at, hint, id=function.__name__))
        return function

    return register


@device_mistake("no_return_type has no return type", "return x + 1", "write `def no_return_type(...) -> u32:`")
def no_return_type(x: u32):
    return x + 1


@device_mistake("no_tuple_type has no return type", "return x, f32(x)", "-> tuple[u32, f32]:`")
def no_tuple_type(x: u32):
    return x, f32(x)


@device_mistake("one_way_out can end without returning a u32", "if x > 3:", "add a return at the end")
def one_way_out(x: u32) -> u32:
    if x > 3:
        return x


MISSING_RETURN = "can end without returning"


@device_mistake(MISSING_RETURN, "while x > 3:", "add a return at the end")
def returns_in_a_loop_only(x: u32) -> u32:
    while x > 3:
        return x


@device_mistake(MISSING_RETURN, "while True:", "add a return at the end")
def leaves_the_endless_loop(x: u32) -> u32:
    while True:
        if x > 3:
            break
        return x


@device_mistake("bare_return returns u32", "«return»\n", "return a value")
def bare_return(x: u32) -> u32:
    return


@device_mistake("the result is u32, this is f32", "return «f32(x)»", "write u32(...) to convert")
def returns_another_type(x: u32) -> u32:
    return f32(x)


@device_mistake("returns_one_of_two returns tuple[u32, u32]", "return «x»", "return 2 values")
def returns_one_of_two(x: u32) -> tuple[u32, u32]:
    return x


@device_mistake("expected f32, this is u32", "return x, «x»", "write f32(...) to convert")
def returns_a_tuple_of_another_type(x: u32) -> tuple[u32, f32]:
    return x, x


@device_mistake("Point cannot be returned by value", "-> «Point»", "return its parts, or take a Ptr to it")
def returns_a_struct(x: u32) -> Point:
    return x


@device_mistake("a local array or struct ends with its function", "return «a»", "take a Ptr to write it to")
def returns_a_local_array(x: u32) -> Ptr[u32]:
    a: u32[4]
    return a


@device_mistake("not a type of device code", "-> «int»", "write i32, i64 or another sized integer")
def returns_int(x: u32) -> int:
    return x


@pytest.mark.parametrize(("function", "message", "at", "hint"), DEVICE_MISTAKES)
def test_each_mistake_in_a_device_function_is_shown_where_it_stands(function, message, at, hint):
    called = device(function)

    @kernel
    def caller(x: u32):
        called(x)

    with pytest.raises(lw.LangError) as caught:
        lower_kernel(caller, HostAbi())
    assert (caught.value.line, caught.value.column) == place_of(function, at)[:2]
    assert message in caught.value.message
    assert hint in caught.value.hint


# --- the whole message -----------------------------------------------------------------------------------------------


def test_the_example_of_the_design_gives_exactly_its_message(tmp_path, monkeypatch):
    source = (
        "from lanewise.lang import Ptr, atomic_add, f32, kernel, struct, thread_id, u32\n"
        "\n"
        "\n"
        "@struct\n"
        "class Histogram:\n"
        "    total: u32\n"
        "    bins: u32[256]\n"
        "\n"
        "\n"
        "@kernel\n"
        "def count(data: Ptr[f32], n: u32, out: Ptr[Histogram]):\n"
        "    # each thread counts one value\n"
        "    i = thread_id()\n"
        "    if i < n:\n"
        "        atomic_add(out.bins[data[i] * 256.0], 1)\n"
        "        atomic_add(out.total, 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    module = imported(tmp_path / "histogram.py", source)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(module.count, HostAbi())
    assert str(caught.value) == (
        "histogram.py:15:29: error: f32 cannot index an array\n"
        "    15 |         atomic_add(out.bins[data[i] * 256.0], 1)\n"
        "       |                             ^^^^^^^^^^^^^^^\n"
        "    write u32(...) to convert"
    )


def imported(path, source):
    """Write a module and import it."""
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_caret_stands_right_behind_tabs_and_wide_characters(tmp_path):
    source = "from lanewise.lang import *\n\n\n@kernel\ndef größe(ä: u32):\n\tif ä > 1:\n\t\tä = 'ü' + ä\n"
    module = imported(tmp_path / "umlauts.py", source)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(module.größe, HostAbi())
    assert (caught.value.line, caught.value.column) == (7, 7)
    assert str(caught.value).split("\n")[1:3] == ["     7 | \t\tä = 'ü' + ä", "       | \t\t    ^^^"]


def test_an_expression_over_several_lines_is_marked_on_its_first(tmp_path):
    source = (
        "from lanewise.lang import *\n\n\n@kernel\ndef k(a: u32, b: f32):\n    c = (\n        a\n        + b\n    )\n"
    )
    module = imported(tmp_path / "lines.py", source)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(module.k, HostAbi())
    assert str(caught.value).split("\n")[1:3] == ["     7 |         a", "       |         ^"]


def test_lines_are_right_behind_odd_line_separators(tmp_path):
    source = "from lanewise.lang import *\n\n\n@kernel\ndef k(a: u32):\n    '''x\x0cy\u2028z'''\n    a = missing\n"
    module = imported(tmp_path / "separators.py", source)
    with pytest.raises(lw.LangError) as caught:
        lower_kernel(module.k, HostAbi())
    assert caught.value.line == 7
    assert "     7 |     a = missing\n" in str(caught.value)


# --- what is refused before any line is read -------------------------------------------------------------------------


def test_source_that_cannot_be_found_is_said_so():
    names = {}
    exec("from lanewise.lang import *\n@kernel\ndef k(p: Ptr[u32]):\n    p[0] = 1\n", names)
    with pytest.raises(
        lw.LanewiseError, match="the source of k cannot be read from <string>; device code must stand in a"
    ):
        lower_kernel(names["k"], HostAbi())


def test_a_lambda_is_no_kernel():
    with pytest.raises(lw.LanewiseError, match="write it"):
        lower_kernel(kernel(lambda p: None), HostAbi())
    functions = [
        kernel(lambda p: p),
    ]
    with pytest.raises(lw.LanewiseError, match="write it"):
        lower_kernel(functions[0], HostAbi())


def test_an_async_function_is_no_kernel():
    @kernel
    async def later(p: Ptr[u32]):
        p[0] = 1

    with pytest.raises(lw.LanewiseError, match="is not a plain function; write it with `def`"):
        lower_kernel(later, HostAbi())


def test_a_method_is_no_kernel():
    class Holder:
        @kernel
        def method(self, p: Ptr[u32]):
            p[0] = 1

    with pytest.raises(lw.LangError, match="parameter self has no type"):
        lower_kernel(Holder.method, HostAbi())


@pytest.mark.parametrize("decorate", [kernel, device, kernel(reassociate=True), device(reassociate=True)])
@pytest.mark.parametrize("wrong", [5, print, staticmethod(plain), launched, half])
def test_only_plain_functions_are_decorated(decorate, wrong):
    with pytest.raises(lw.LanewiseError, match="goes before a plain function"):
        decorate(wrong)


def test_a_function_that_another_decorator_changed_is_refused():
    def logged(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args)

        return inner

    with pytest.raises(lw.LanewiseError, match="not what another decorator made of it"):

        @kernel
        @logged
        def wrapped(p: Ptr[u32]):
            p[0] = 1


def test_device_code_called_from_python_says_where_it_belongs():
    with pytest.raises(lw.LanewiseError, match="half is device code; call it from a @kernel or @device function"):
        half(1.0)
    with pytest.raises(lw.LanewiseError, match="say how many threads run launched"):
        launched(1)
    with pytest.raises(lw.LanewiseError, match="thread_id is device code"):
        thread_id()
    with pytest.raises(lw.LanewiseError, match="grid_range is device code"):
        grid_range(4)
    with pytest.raises(lw.LanewiseError, match="warp_reduce_add is device code"):
        warp_reduce_add(4)
    with pytest.raises(lw.LanewiseError, match="ON_GPU has a value in device code only"):
        bool(ON_GPU)


@pytest.mark.parametrize("wrong", [int, None, "f32", tuple[f32, f32], 5])
def test_a_pointer_to_no_device_type_is_refused(wrong):
    with pytest.raises(lw.LanewiseError, match="an element is a type of device code"):
        Ptr[wrong]


@pytest.mark.parametrize("wrong", [0, -1, True, 2.0, "3"])
def test_an_array_without_a_whole_positive_length_is_refused(wrong):
    with pytest.raises(lw.LanewiseError, match="a fixed array needs a positive whole number"):
        u32[wrong]


def test_structs_that_cannot_be_are_refused():
    with pytest.raises(lw.LanewiseError, match="struct Empty has no fields"):

        @struct
        class Empty:
            pass

    with pytest.raises(lw.LanewiseError, match="field x is <class 'int'>; a field is a scalar"):

        @struct
        class Whole:
            x: int

    with pytest.raises(lw.LanewiseError, match="field x has a default"):

        @struct
        class Defaulted:
            x: u32 = 5

    with pytest.raises(lw.LanewiseError, match="a field's type cannot be told: name 'Node' is not defined"):

        @struct
        class Node:
            next: "Ptr[Node]"


def test_nesting_too_deep_is_an_error_and_not_a_crash(tmp_path):
    source = "from lanewise.lang import *\n\n\n@kernel\ndef k(a: u32):\n    a = " + " + ".join(["a"] * 900) + "\n"
    module = imported(tmp_path / "deep.py", source)
    with pytest.raises(lw.LangError, match="k is nested too deep"):
        lower_kernel(module.k, HostAbi())
