"""The stages of a compile: their texts, their files, their errors, and when the cache is asked."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from lanewise.arm64 import program
from lanewise.compiler import Cache, Target, _llvm, assemble, compile_module, find_ptxas, pipeline, stages
from lanewise.errors import CompileError, LanewiseError

ADD = "define i32 @add(i32 %a, i32 %b) {\n  %s = add i32 %a, %b\n  ret i32 %s\n}\n"
LOOP = """
define void @double(ptr noalias %p, ptr noalias %q, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %a = getelementptr float, ptr %p, i64 %i
  %v = load float, ptr %a
  %w = fadd float %v, %v
  %b = getelementptr float, ptr %q, i64 %i
  store float %w, ptr %b
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


@pytest.fixture
def store(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "code", 1 << 20)


def test_ptx_is_text_without_nul_and_names_its_version() -> None:
    code = compile_module(ADD, Target.nvptx(90), cache=None).code
    assert b"\0" not in code
    assert b".version 8.0\n.target sm_90\n" in code


def test_the_host_gets_an_object_file() -> None:
    assert compile_module(ADD, Target.host(), cache=None).code[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")


def test_stages_have_a_text_each() -> None:
    assert list(stages(ADD, Target.nvptx())) == ["llvm", "optimised", "ptx"]
    host = stages(ADD, Target.host())
    assert list(host) == ["llvm", "optimised", "asm"]
    assert host["llvm"] == ADD
    assert "target triple" in host["optimised"]
    assert "add" in host["asm"]


def test_loops_are_vectorised_on_the_host_from_level_2() -> None:
    assert "x float>" in stages(LOOP, Target.host())["optimised"]
    assert "x float>" not in stages(LOOP, Target.host(), level=1)["optimised"]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("target", [Target.host(), Target.nvptx()], ids=lambda target: target.kind)
def test_every_level_compiles(target: Target, level: int) -> None:
    assert compile_module(LOOP, target, level=level, cache=None).code


def test_accesses_without_an_alignment_get_the_natural_one() -> None:
    body = "  %v = load i64, ptr %p\n  %w = add i64 %v, 1\n  store i64 %w, ptr %p\n  ret void\n"
    ir = f"define ptx_kernel void @k(ptr %p) {{\n{body}}}"
    assert "ld.global.b64" in stages(ir, Target.nvptx())["ptx"]


def test_a_parse_error_names_the_module_the_line_and_shows_it() -> None:
    with pytest.raises(CompileError) as caught:
        compile_module("define i32 @f() {\n  ret i32 %nowhere\n}", Target.host(), name="shapes.area", cache=None)
    assert str(caught.value) == (
        "shapes.area: line 2, column 11 of the LLVM IR: use of undefined value '%nowhere'\n"
        "  ret i32 %nowhere\n          ^"
    )


def test_a_verifier_error_carries_llvms_words_and_the_instruction() -> None:
    body = "  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n  br label %b\nb:\n  ret i32 %x\n"
    ir = f"define i32 @f(i1 %c) {{\n{body}}}"
    with pytest.raises(CompileError, match=r"m: LLVM refused the IR: (?s:.*)does not dominate(?s:.*)ret i32 %x"):
        compile_module(ir, Target.host(), name="m", cache=None)


def test_ir_for_another_machine_is_refused() -> None:
    with pytest.raises(CompileError, match=r"the IR says it is for 'riscv64'.*leave the `target` lines out"):
        compile_module('target triple = "riscv64"\n' + ADD, Target.host(), cache=None)


def test_the_second_compile_comes_from_the_cache(store: Cache) -> None:
    first = compile_module(ADD, Target.host(), cache=store)
    second = compile_module(ADD, Target.host(), cache=store, name="another name")
    assert (first.cached, second.cached) == (False, True)
    assert first.code == second.code


def test_level_target_and_text_each_have_their_own_entry(store: Cache) -> None:
    compile_module(ADD, Target.host(), cache=store)
    assert not compile_module(ADD, Target.host(), level=1, cache=store).cached
    assert not compile_module(ADD, Target.nvptx(90), cache=store).cached
    assert not compile_module(ADD, Target.nvptx(80), cache=store).cached
    assert not compile_module(ADD + "\n", Target.host(), cache=store).cached


def test_a_damaged_entry_is_compiled_anew(store: Cache) -> None:
    first = compile_module(ADD, Target.host(), cache=store)
    (entry,) = store.directory.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    again = compile_module(ADD, Target.host(), cache=store)
    assert not again.cached
    assert again.code == first.code
    assert compile_module(ADD, Target.host(), cache=store).cached


def test_a_dump_has_a_file_for_each_stage_even_when_the_code_was_cached(
    store: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_module(ADD, Target.host(), cache=store)
    dump = tmp_path / "made" / "here"
    monkeypatch.setenv("LANEWISE_DUMP", str(dump))
    code = compile_module(ADD, Target.host(), name="a.<locals>.add", source="def add(): ...", cache=store).code
    compile_module(ADD, Target.nvptx(), name="gpu", cache=store)
    assert {path.name for path in dump.iterdir()} == {
        *("a._locals_.add.source.txt", "a._locals_.add.llvm.ll", "a._locals_.add.optimised.ll"),
        *("a._locals_.add.s", "a._locals_.add.o", "gpu.llvm.ll", "gpu.optimised.ll", "gpu.ptx"),
    }
    assert (dump / "a._locals_.add.source.txt").read_text() == "def add(): ..."
    assert (dump / "a._locals_.add.llvm.ll").read_text() == ADD
    assert (dump / "a._locals_.add.o").read_bytes() == code


def test_a_dump_that_cannot_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LANEWISE_DUMP", str(tmp_path / "file"))
    with pytest.raises(LanewiseError, match="LANEWISE_DUMP names"):
        compile_module(ADD, Target.host(), cache=None)


def test_threads_may_compile_at_once() -> None:
    codes: list[bytes] = []
    targets = [Target.host(), Target.nvptx()] * 4
    threads = [
        threading.Thread(target=lambda t=t: codes.append(compile_module(LOOP, t, cache=None).code)) for t in targets
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(codes) == 8
    assert len(set(codes)) == 2


def test_types_of_the_same_name_in_two_modules_do_not_meet() -> None:
    ir = "%T = type { i32, FIELD }\ndefine void @f(ptr %p) {\n  store %T zeroinitializer, ptr %p\n  ret void\n}"
    for field in ("i8", "i64"):
        assert (
            f"%T = type {{ i32, {field} }}" in stages(ir.replace("FIELD", field), Target.host(), level=0)["optimised"]
        )


def test_llvm_works_where_an_interrupt_cannot_break_into_it() -> None:
    assert _llvm.undisturbed(threading.current_thread) is not threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        _llvm.undisturbed(lambda: 1 // 0)


def test_another_thread_does_its_own_work() -> None:
    seen: list[threading.Thread] = []
    worker = threading.Thread(target=lambda: seen.append(_llvm.undisturbed(threading.current_thread)))
    worker.start()
    worker.join()
    assert seen == [worker]


SIXTEEN_BITS = """
define ptx_kernel void @k(ptr %p) {{
  %x = load <2 x i16>, ptr %p
  {operation}
  store <2 x i16> %r, ptr %p
  ret void
}}
"""


@pytest.mark.parametrize(
    "operation",
    [
        "%r = sub <2 x i16> zeroinitializer, %x",
        "%r = call <2 x i16> @llvm.abs.v2i16(<2 x i16> %x, i1 false)",
        "%r = add <2 x i16> %x, <i16 0, i16 -128>",
        "%r = call <2 x i16> @llvm.smin.v2i16(<2 x i16> %x, <2 x i16> <i16 0, i16 5>)",
        "%r = call <2 x i16> @llvm.umax.v2i16(<2 x i16> %x, <2 x i16> <i16 0, i16 5>)",
    ],
)
def test_what_the_assembler_gets_wrong_is_not_in_the_ptx(operation):
    ptx = compile_module(SIXTEEN_BITS.format(operation=operation), Target.nvptx(90), cache=None).code
    assert not re.search(rb"neg\.s16|abs\.s16|16x2", ptx)
    if find_ptxas() is not None:
        assemble(ptx, 90)


@pytest.mark.parametrize(
    ("number", "whole", "part"), [("double", "i64", "i32"), ("float", "i32", "i16"), ("float", "i32", "i8")]
)
def test_the_lower_part_of_a_number_is_stored_as_it_is(number, whole, part):
    ptx = compile_module(
        f"""define ptx_kernel void @k(ptr %p) {{
  %x = load {number}, ptr %p
  %sum = fadd {number} %x, %x
  %bits = bitcast {number} %sum to {whole}
  %low = trunc {whole} %bits to {part}
  %to = getelementptr i8, ptr %p, i64 64
  store {part} %low, ptr %to
  ret void
}}
""",
        Target.nvptx(90),
        cache=None,
    ).code
    assert not re.search(rb"st[.\w]*\.b32[ \t][^;]*, %rd|st[.\w]*\.b(8|16)[ \t][^;]*, %rd?[0-9]", ptx)
    assert b"cvt.u" in ptx
    if find_ptxas() is not None:
        assemble(ptx, 90)


@pytest.mark.parametrize("cases", [16, 12])
def test_the_number_of_a_switch_is_checked_only_where_a_case_may_be_missing(cases):
    numbers = range(cases)
    declared = "".join(f"declare void @f{number}()\n" for number in numbers)
    ways = " ".join(f"i32 {number}, label %case.{number}" for number in numbers)
    blocks = "".join(f"case.{number}:\n  call void @f{number}()\n  ret void\n" for number in numbers)
    ir = f"""{declared}define void @choose(i32 %word) {{
  %part = lshr i32 %word, 28
  switch i32 %part, label %none [ {ways} ]
none:
  {"unreachable" if cases == 16 else "ret void"}
{blocks}}}
"""
    ptx = stages(ir, Target.nvptx(90))["ptx"]
    assert "brx.idx" in ptx
    assert bool(re.search(r"@%p\d+ bra", ptx)) == (cases < 16)


def test_what_a_switch_found_of_its_number_is_there_for_the_next_one():
    """LLVM looks once for two switches by the same number, so that the second needs what the first has found."""
    numbers = range(16)
    declared = "".join(f"declare void @{way}{number}()\n" for way in "fg" for number in numbers)
    first, second = (" ".join(f"i32 {number}, label %{way}.{number}" for number in numbers) for way in "fg")
    ir = f"""{declared}define void @choose(i32 %word) {{
  %part = lshr i32 %word, 28
  switch i32 %part, label %none [ {first} ]
none:
  unreachable
{"".join(f"f.{number}: call void @f{number}() br label %again " for number in numbers)}
again:
  call void @f0()
  switch i32 %part, label %none [ {second} ]
{"".join(f"g.{number}: call void @g{number}() ret void " for number in numbers)}
}}
"""
    ptx = stages(ir, Target.nvptx(90))["ptx"]
    assert ptx.count("brx.idx") == 2
    assert set(re.findall(r"@(%p\d+) bra", ptx)) <= set(re.findall(r"setp\S+[ \t]+(%p\d+)", ptx))


def test_code_of_another_pipeline_is_not_taken_from_the_cache(monkeypatch):
    target = Target.nvptx()
    keys = [pipeline.cache_key("", target, 3), program._key(target, "", b"")]
    monkeypatch.setattr(pipeline, "_OWN", ("pipeline.py",))
    pipeline.made_by.cache_clear()
    try:
        assert pipeline.cache_key("", target, 3) != keys[0]
        assert program._key(target, "", b"") != keys[1]
    finally:
        pipeline.made_by.cache_clear()
