"""Mistakes with types and literals."""

# The snippets are wrong on purpose, in ways that a linter sees too.
# ruff: noqa: C416, E731

from mistakes import Mistakes
from misused import LIMIT, TABLE, Point, half

from lanewise.lang import (
    Ptr,
    f32,
    f64,
    i8,
    i32,
    i64,
    u8,
    u32,
    u64,
)

mistake = Mistakes()


# --- types ------------------------------------------------------------------------------------------------------------


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


# --- literals ---------------------------------------------------------------------------------------------------------


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


test_each_mistake_is_an_error_with_a_caret_under_it = mistake.test()
