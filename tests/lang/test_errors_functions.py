"""Mistakes with functions: calls, signatures, and device functions."""

# The snippets are wrong on purpose, in ways that a linter sees too.
# ruff: noqa: C416, E731

import math

import pytest
from mistakes import Mistakes, place_of
from misused import Point, half, launched, plain

import lanewise as lw
from lanewise.lang import (
    Ptr,
    addressof,
    bitcast,
    device,
    f32,
    f64,
    fma,
    i32,
    kernel,
    mul_high,
    popcount,
    shared,
    sqrt,
    u32,
    warp_reduce_add,
    warp_reduce_and,
)
from lanewise.lang.abi_host import HostAbi
from lanewise.lang.program import lower_kernel

mistake = Mistakes()


# --- functions --------------------------------------------------------------------------------------------------------


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


# --- signatures -------------------------------------------------------------------------------------------------------


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


# --- device functions -------------------------------------------------------------------------------------------------


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


test_each_mistake_is_an_error_with_a_caret_under_it = mistake.test()
