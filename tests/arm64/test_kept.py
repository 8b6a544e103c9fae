"""Code that was compiled or read once is not compiled or read again, with a cache on disk and without."""

import subprocess
import sys
from collections import OrderedDict

import pytest
from test_linux_batches import ENVIRONMENT
from test_units import AtOnce

from lanewise.arm64 import kept, program
from lanewise.arm64.cpu import ParallelCPU
from lanewise.arm64.linux import hot, run_linux
from lanewise.arm64.runners import Wanted
from lanewise.compiler import OPTIMISED, QUICK, Cache, Target, default_cache


@pytest.fixture
def at_once(monkeypatch):
    """What is hot is translated at the first look, and then no more."""
    monkeypatch.setattr(hot, "_FIRST_LOOK", 0.001)
    monkeypatch.setattr(hot, "_LONGER", 10**6)
    monkeypatch.setattr(hot, "Thread", AtOnce)
    monkeypatch.setattr(hot, "has_interpreter", lambda target: True)  # whichever it is


def run(build, name):
    """A program that computes for a while."""
    found = run_linux(build(name, "-static", "-Og"), argv=[name, "loop"], device="cpu", max_cycles=20_000_000)[0]
    assert (found.reason, found.instructions) == ("cycles", 20_000_000)


def test_without_a_cache_nothing_is_compiled_twice(build, at_once, monkeypatch, tmp_path):
    run_linux(build("bare"))  # now the interpreter is at hand
    compiled = []
    real = program.compile_guest

    def compile_guest(jobs, **more):
        compiled.extend(job.ir for job in jobs)
        return real(jobs, **more)

    monkeypatch.setattr(program, "compile_guest", compile_guest)
    none = Cache(tmp_path, 0)
    for module in (kept, hot):
        monkeypatch.setattr(module, "default_cache", lambda: none)
    run(build, "endings")
    assert compiled  # what was hot
    assert len(compiled) == len(set(compiled))
    assert not any("define void @arm64_interpret" in text for text in compiled)


def test_a_start_reads_what_is_cached_once(build, at_once, monkeypatch):
    monkeypatch.setattr(kept, "_bundles", OrderedDict())  # where another test may have left it, which had no cache
    run(build, "endings")  # now there is a translation in the cache
    monkeypatch.setattr(kept, "_bundles", OrderedDict())
    read = []
    real = Cache.get

    def get(self, key):
        read.append(key)
        return real(self, key)

    monkeypatch.setattr(Cache, "get", get)
    monkeypatch.setattr(hot, "_FIRST_LOOK", 1000)
    run(build, "endings")
    assert len(read) == len(set(read))
    assert default_cache().get(read[0]) is not None


def test_what_is_hot_is_remembered_for_each_size_of_memory(build, at_once, monkeypatch, tmp_path):
    """A translation is for one: a run with another must not have the next one begin with nothing."""
    cache = Cache(tmp_path / "cache", 1 << 28)
    monkeypatch.setattr(hot, "default_cache", lambda: cache)
    begun = []
    real = ParallelCPU.use_translation

    def use_translation(self, wanted):
        begun.append(len(wanted.entries))
        real(self, wanted)

    def begins_with(size):
        begun.clear()
        path = build("endings", "-static", "-Og")
        run_linux(path, argv=["endings", "loop"], device="cpu", memory_size=size, max_cycles=20_000_000)
        return begun[0]

    monkeypatch.setattr(ParallelCPU, "use_translation", use_translation)
    assert begins_with(1 << 24) == 0
    with monkeypatch.context() as changed:
        changed.setattr(hot.HotCode, "_hot", lambda self, now, samples: [self.code.start])  # other lanes, other ways
        assert begins_with(1 << 25) == 0
    assert begins_with(1 << 24)


def test_what_a_short_run_has_begun_to_translate_the_next_one_ends(build, at_once, monkeypatch, tmp_path):
    """Whatever is hot in that: else many short runs would begin much, and none would have it."""
    cache = Cache(tmp_path / "cache", 1 << 28)
    monkeypatch.setattr(hot, "default_cache", lambda: cache)
    begun, hot_now, real = [], [], Wanted.pieces

    def pieces(self, target):
        if self.entries:
            begun.append(self.entries)
            if len(begun) == 1:
                raise ValueError("the process ends")
        return real(self, target)

    monkeypatch.setattr(Wanted, "pieces", pieces)
    monkeypatch.setattr(hot.HotCode, "_hot", lambda self, now, samples: [self.code.start + 4 * len(hot_now)])
    for _ in range(2):
        path = build("endings", "-static", "-Og")
        run_linux(path, argv=["endings", "loop"], device="cpu", memory_size=9 << 20, max_cycles=20_000_000)
        hot_now.append("something else")
    assert len(begun) > 1
    assert len({*begun}) == 1


def test_where_there_is_no_interpreter_lanes_begin_by_a_quick_one_and_go_on_by_the_other(build, monkeypatch, tmp_path):
    target = Target.host()
    _, *pieces = program.launch_code(target, False, True, hurry=True)  # whichever it is: both do the same
    made, loaded = [], []
    real = program.compile_guest, ParallelCPU.load_anew

    def compile_guest(jobs, **more):
        if jobs[0].level != QUICK:
            return real[0](jobs, **more)
        made.append("quick")
        return pieces

    def compile_outliving(cache, key, jobs):
        made.append("optimised")
        assert {job.level for job in jobs()} == {OPTIMISED}
        return pieces

    def load_anew(self):
        loaded.append(list(made))
        real[1](self)

    none = Cache(tmp_path, 0)
    for module in (kept, hot):
        monkeypatch.setattr(module, "default_cache", lambda: none)
    monkeypatch.setattr(kept, "_bundles", OrderedDict())
    monkeypatch.setattr(program, "compile_guest", compile_guest)
    monkeypatch.setattr(program, "compile_outliving", compile_outliving)
    monkeypatch.setattr(ParallelCPU, "load_anew", load_anew)
    monkeypatch.setattr(hot, "_FIRST_LOOK", 0.001)
    monkeypatch.setattr(hot, "_LONGER", 10**6)
    monkeypatch.setattr(hot, "Thread", AtOnce)
    assert not program.has_interpreter(target)
    run(build, "endings")
    assert (made, loaded) == (["quick", "optimised"], [["quick", "optimised"]])
    assert program.has_interpreter(target)
    run(build, "endings")
    assert made == ["quick", "optimised"]


def test_few_bundles_are_kept_those_that_were_used_last(monkeypatch, tmp_path):
    none = Cache(tmp_path, 0)
    monkeypatch.setattr(kept, "_bundles", OrderedDict())
    monkeypatch.setattr(kept, "default_cache", lambda: none)
    for number in range(20):
        kept.keep(str(number), [b"%d" % number])
        assert kept.kept("0") == [b"0"]
    assert len(kept._bundles) == kept._MOST
    assert kept.kept("19") == [b"19"]
    assert kept.kept("5") is None


def test_a_short_program_is_over_before_the_table_of_instructions_is_read(build):
    run_linux(build("bare"))
    code = f"""
import sys
from lanewise.cli.gpu_run import command
command([{str(build("bare"))!r}])
print([name for name in sys.modules if name.startswith(("lanewise.arm64.encodings", "lanewise.arm64.finding"))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert done.stdout.splitlines()[-1] == "[]", done
