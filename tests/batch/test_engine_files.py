"""Files of lanes in whole runs: small ones are opened without Python, and what a lane writes it reads."""

import time

import pytest
from engine_runs import program, run, run_all, task_of

import lanewise as lw
from lanewise.batch import cpu_engine
from lanewise.batch.engine import Run
from lanewise.batch.open_wave import OpenWave
from lanewise.batch.running import TIMED_OUT
from lanewise.batch.spec import Limits
from lanewise.kernel.system_numbers import OPENAT2_WORKS, SETTLED_NS
from lanewise.kernel.wasi_numbers import REQUEST_OPEN

READ, READ_AND_WRITE = 2, 2 | 64
HELPERS = """
  (data (i32.const 256) "f")
  (func $open (param $rights i64) (result i32)
    (if (call $path_open (i32.const 3) (i32.const 0) (i32.const 256) (i32.const 1) (i32.const 0) (local.get $rights)
        (i64.const 0) (i32.const 0) (i32.const 300)) (then unreachable))
    (i32.load (i32.const 300)))
  (func $vector (param $size i32)
    (i32.store (i32.const 400) (i32.const 512))
    (i32.store (i32.const 404) (local.get $size)))"""
READS = program(
    f"""(local $file i32)
    (local.set $file (call $open (i64.const {READ})))
    (call $vector (i32.const 100))
    (if (call $fd_read (local.get $file) (i32.const 400) (i32.const 1) (i32.const 408)) (then unreachable))
    (call $say_at (i32.const 1) (i32.const 512) (i32.load (i32.const 408)))""",
    "path_open",
    "fd_read",
    more=HELPERS,
)
READS_AND_WRITES = program(
    f"""(local $reader i32) (local $writer i32)
    (local.set $reader (call $open (i64.const {READ})))
    (local.set $writer (call $open (i64.const {READ_AND_WRITE})))
    (i32.store (i32.const 512) (i32.const 0x21214948))  ;; HI!!
    (call $vector (i32.const 4))
    (if (call $fd_write (local.get $writer) (i32.const 400) (i32.const 1) (i32.const 408)) (then unreachable))
    (i32.store (i32.const 512) (i32.const 0))
    (call $vector (i32.const 100))
    (if (call $fd_read (local.get $reader) (i32.const 400) (i32.const 1) (i32.const 408)) (then unreachable))
    (call $say_at (i32.const 1) (i32.const 512) (i32.load (i32.const 408)))""",
    "path_open",
    "fd_read",
    more=HELPERS,
)
OPENS_FOR_EVER = program(
    f"(loop $next (drop (call $fd_close (call $open (i64.const {READ})))) (br $next))",
    "path_open",
    "fd_close",
    more=HELPERS,
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "f").write_bytes(b"content")
    time.sleep(SETTLED_NS / 1e9 + 0.02)
    return [(tmp_path, "/")]


@pytest.fixture
def asked(monkeypatch):
    """The kinds of requests that Python answered."""
    kinds = []
    real = cpu_engine.read_request

    def noted(address):
        request = real(address)
        kinds.append(request.op)
        return request

    monkeypatch.setattr(cpu_engine, "read_request", noted)
    return kinds


def test_lanes_read_a_file(folder, device):
    assert run_all(READS, device, 50, directories=folder).stdout == [b"content"] * 50


def test_small_files_are_opened_without_python(folder, cpu, asked):
    assert run_all(READS, cpu, 50, directories=folder).stdout == [b"content"] * 50
    assert (REQUEST_OPEN in asked) == (not OPENAT2_WORKS)


def test_python_opens_files_where_native_code_cannot(folder, cpu, asked, monkeypatch):
    monkeypatch.setattr(cpu_engine, "OPENAT2_WORKS", False)
    assert run_all(READS, cpu, 50, directories=folder).stdout == [b"content"] * 50
    assert asked.count(REQUEST_OPEN) == 50


def test_what_a_lane_writes_it_reads_by_what_it_opened_before(folder, device):
    assert run_all(READS_AND_WRITES, device, 1, directories=folder).stdout == [b"HI!!ent"]


def test_lanes_that_open_files_for_ever_are_ended(folder, device):
    ended = run(OPENS_FOR_EVER, device, 4, directories=folder, limits=Limits(timeout=0.2))
    assert ended.stopped.startswith(TIMED_OUT)
    assert ended.kinds == ["timed out"] * 4


def test_a_run_that_is_stopped_tells_native_code(folder, cpu):
    running = Run(task_of(OPENS_FOR_EVER, cpu, 4, directories=folder))
    service = cpu_engine.HostService(running._files, None, False)
    running._open.append(OpenWave(running._program.module, 0, 4, service, None))
    running.stop()
    assert service.stopping
    assert running._backend.native is None or running._backend.native._table["stopping"] == 1


@pytest.fixture
def cpu():
    return lw.device("cpu")
