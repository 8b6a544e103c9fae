"""Statements and expressions of Python that kernels do not have."""

# The snippets are wrong on purpose, in ways that a linter sees too.
# ruff: noqa: C416, E731

from mistakes import Mistakes
from misused import LIMIT, both, half, nothing

from lanewise.lang import (
    Ptr,
    atomic_load,
    f32,
    grid_range,
    i32,
    memory_barrier,
    sqrt,
    u8,
    u32,
)

mistake = Mistakes()


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


test_each_mistake_is_an_error_with_a_caret_under_it = mistake.test()
