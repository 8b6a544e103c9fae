"""Mistakes with names, and with where they come from."""

# The snippets are wrong on purpose, in ways that a linter sees too.
# ruff: noqa: C416, E731

import math

from mistakes import Mistakes
from misused import LIMIT, NAMES, SETTINGS, SQUARE_TABLE, TABLE, Point, half

from lanewise.lang import (
    Ptr,
    addressof,
    f32,
    f64,
    thread_id,
    u32,
)

mistake = Mistakes()


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


test_each_mistake_is_an_error_with_a_caret_under_it = mistake.test()
