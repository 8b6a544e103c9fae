"""Checks in loops: where every way around needs one, and nowhere else."""

import re

import pytest

from lanewise.compiler import Target
from lanewise.compiler.pipeline import stages
from lanewise.compiler.rounds import place_checks

AROUND = """
declare void @lw.round(ptr, i32)
declare void @look(ptr, i32)
attributes #5 = { nounwind willreturn nofree memory(inaccessiblemem: readwrite) }
@llvm.compiler.used = appending global [1 x ptr] [ptr @lw.check_round], section "llvm.metadata"
define internal void @lw.check_round(ptr %rounds, ptr %st, i32 %place) alwaysinline {
  call void @look(ptr %st, i32 %place)
  ret void
}
"""


def placed(body: str) -> dict[str, str]:
    """The blocks of a function, by label, once its markers have become checks."""
    made = place_checks(f"declare void @lw.round(ptr, i32)\ndefine void @f(ptr %st, i32 %n, i1 %c) {{\n{body}}}\n")
    assert "@lw.round(" not in made
    return {block.partition(":")[0]: block for block in re.split(r"\n(?=[\w.]+:)", made)}


def checked(body: str) -> list[str]:
    return [label for label, block in placed(body).items() if "@lw.check_round" in block]


MARK = "  call void @lw.round(ptr %st, i32 7)\n"


def loop(start: str = "0", limit: str = "64", how: str = "eq", step: str = "1", inside: str = "") -> str:
    """A loop `h` with a counter and a marker, and other code inside."""
    return f"""entry:
  br label %h
h:
  %i = phi i32 [ {start}, %entry ], [ %j, %l ]
{MARK}  br label %{"inside" if inside else "l"}
{inside}l:
  %j = add nuw nsw i32 %i, {step}
  %e = icmp {how} i32 %j, {limit}
  br i1 %e, label %out, label %h
out:
  ret void
"""


def test_a_loop_that_is_known_to_be_short_has_no_check():
    assert checked(loop()) == []
    assert checked(loop(start="-256", limit="0", step="4")) == []
    assert checked(loop(limit="63", how="ugt")) == []
    assert checked(loop(start="100", limit="0", step="-1")) == []


def test_a_loop_of_unknown_or_great_length_has_one():
    assert checked(loop(limit="%n")) == ["h"]
    assert checked(loop(start="%n")) == ["h"]
    assert checked(loop(limit="100000")) == ["h"]
    assert checked(loop(limit="64", step="3")) == ["h"]  # it passes 64, and all numbers, before it comes to 64
    assert checked(loop(limit="-1", how="sgt", step="0")) == []  # left in the first round
    assert checked(loop(limit="-1", how="slt", step="1")) == ["h"]


def test_a_loop_whose_test_some_rounds_pass_by_has_one():
    around = loop().replace("br label %l\n", "br i1 %c, label %l, label %again\nagain:\n  br label %h\n")
    around = around.replace("[ %j, %l ]", "[ %j, %l ], [ %i, %again ]")
    assert checked(around) == ["h"]


def test_an_endless_loop_inside_a_short_one_has_its_own():
    inside = f"inside:\n{MARK}  br i1 %c, label %inside, label %l\n"
    assert checked(loop(inside=inside)) == ["inside"]


def test_a_short_loop_inside_another_is_charged_for_before_it_begins():
    inside = """inside:
  br label %g
g:
  %x = phi i32 [ 0, %inside ], [ %y, %g ]
  call void @lw.round(ptr %st, i32 8)
  %y = add i32 %x, 1
  %z = icmp eq i32 %y, 20
  br i1 %z, label %l, label %g
"""
    blocks = placed(loop(limit="%n", inside=inside))
    assert [label for label, block in blocks.items() if "@lw.check_round" in block] == ["h"]
    assert "@lw.charge(ptr %lw.rounds, i32 20)" in blocks["inside"]
    assert checked(loop(inside=inside)) == []
    assert checked(loop(limit="1000", inside=inside)) == ["h"]  # 20,000 rounds are not few


def test_a_short_loop_whose_marker_is_all_there_is_has_the_check_before_it():
    # What LLVM makes of loops may leave the marker of the outer one out, where each round comes to an inner one's.
    outer = loop().replace("entry:\n  br label %h", "entry:\n  br label %o\no:\n  br label %h")
    outer = outer.replace("%entry ]", "%o ]").replace(
        "out:\n  ret void", "out:\n  br i1 %c, label %o, label %end\nend:\n  ret void"
    )
    assert checked(outer) == ["o"]


def test_each_way_around_keeps_one_of_several_markers():
    assert checked(
        f"a:\n  br label %b\nb:\n{MARK}{MARK}  br label %d\nd:\n{MARK}  br i1 %c, label %b, label %e\ne:\n  ret void\n"
    ) == ["b"]
    both = f"a:\n  br label %b\nb:\n  br i1 %c, label %d, label %e\nd:\n{MARK}  br label %b\ne:\n{MARK}  br label %b\n"
    assert checked(both) == ["d", "e"]


def test_a_loop_with_two_entries_keeps_its_check():
    two = f"a:\n  br i1 %c, label %b, label %d\nb:\n{MARK}  br label %d\nd:\n{MARK}  br label %b\n"
    assert checked(two) == ["b"]


def test_a_marker_outside_of_loops_leaves_nothing():
    assert checked(f"a:\n{MARK}  ret void\n") == []


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", [Target.host(), Target.nvptx(90)], ids=["host", "nvptx"])
def test_an_endless_loop_is_there_with_its_check_at_every_level(level, target):
    body = "a:\n  br label %b\nb:\n  call void @lw.round(ptr %st, i32 7) #5\n  br label %b\n"
    made = stages(f"define void @f(ptr %st) {{\n{body}}}\n{AROUND}", target, level=level)
    assert "call void @look(ptr %st, i32 7)" in made["optimised"]
    assert "lw.r" not in made["optimised"].replace("lw.rounds", "")
    assert "look" in made["ptx" if target.kind == "nvptx" else "asm"]


def test_a_loop_that_is_unrolled_has_one_check_for_all_copies():
    body = """a:
  br label %b
b:
  %i = phi i32 [ 0, %a ], [ %j, %b ]
  call void @lw.round(ptr %st, i32 7) #5
  %p = getelementptr i32, ptr %st, i32 %i
  store i32 %i, ptr %p
  %j = add i32 %i, 1
  %e = icmp eq i32 %j, %n
  br i1 %e, label %c, label %b
c:
  ret void
"""
    made = stages(f"define void @f(ptr %st, i32 %n) {{\n{body}}}\n{AROUND}", Target.nvptx(90))["optimised"]
    assert made.count("store i32") > made.count("call void @look") == 2  # the unrolled loop, and that of the rest


def test_what_llvm_concluded_from_markers_does_not_outlive_them():
    text = """define void @f(ptr nonnull readonly %st) #0 {
  call void @lw.called(ptr nonnull readonly captures(none) %st, i32 7) #1
  ret void
}
declare void @lw.called(ptr captures(none), i32)
attributes #0 = { nounwind memory(read, inaccessiblemem: readwrite) "key"="1" }
attributes #1 = { memory(none) }
"""
    checked = place_checks(text)
    assert "call void @lw.check_call(ptr %st, i32 7)" in checked
    assert "define void @f(ptr nonnull %st) #0 {" in checked
    assert 'attributes #0 = { nounwind "key"="1" }' in checked
    assert "attributes #1 = { memory(none) }" in checked
