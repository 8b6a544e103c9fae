"""Static programs of other makers than glibc and gcc do in lanes what they do under qemu-aarch64.

The variable ARM64_MUSL is a directory with the contents of Debian's package musl-dev:arm64. Rust's library for AArch64
is in the package libstd-rust-dev:arm64, beside rustc.
"""

import os
import subprocess
from pathlib import Path

import pytest

from lanewise.arm64.linux import run_linux

SOURCES = Path(__file__).parent / "programs"
COMPILER = "aarch64-linux-gnu-gcc"
RUSTC, RUST_LIBRARY = Path("/usr/bin/rustc"), Path("/usr/lib/rustlib/aarch64-unknown-linux-gnu")


@pytest.fixture(scope="session")
def musl(tmp_path_factory, qemu):
    """Builds a program of `programs/` with musl."""
    given = os.environ.get("ARM64_MUSL")
    if not given:
        pytest.skip("ARM64_MUSL is not set; it is a directory with the contents of the package musl-dev:arm64")
    headers, library = (Path(given) / "usr" / part / "aarch64-linux-musl" for part in ("include", "lib"))
    asked = subprocess.run([COMPILER, "-print-libgcc-file-name"], capture_output=True, text=True, check=True)
    own = asked.stdout.strip()

    def make(name):
        target = tmp_path_factory.mktemp("musl") / name
        begin = [library / "crt1.o", library / "crti.o"]
        end = [library / "libc.a", own, library / "crtn.o"]
        where = ["-nostdinc", "-isystem", headers, "-isystem", Path(own).parent / "include"]
        command = [COMPILER, "-O2", *where, "-nostdlib", "-static", "-o", target, *begin, SOURCES / name, *end]
        subprocess.run(command, check=True, timeout=60)
        return target

    return make


@pytest.fixture(scope="session")
def rust(tmp_path_factory, qemu):
    """Builds a program of `programs/` with Rust."""
    if not (RUSTC.exists() and RUST_LIBRARY.exists()):
        pytest.skip("rustc and its library for AArch64 are not installed (packages rustc and libstd-rust-dev:arm64)")

    def make(name):
        target = tmp_path_factory.mktemp("rust") / name
        ways = ["--target", RUST_LIBRARY.name, "-C", f"linker={COMPILER}", "-C", "target-feature=+crt-static"]
        ways += ["-C", "relocation-model=static"]
        subprocess.run([RUSTC, "-O", *ways, "-o", target, SOURCES / name], check=True, timeout=120)
        return target

    return make


def alike(qemu, program, argv, stdin, folder):
    """Whether a program does the same in a lane and under qemu."""
    (folder / "given.txt").write_bytes(b"given\n")
    environment = {"WHO": "me"}
    expected = qemu(program, argv, stdin=stdin, cwd=folder, env=environment)
    found = run_linux(program, argv=argv, stdin=stdin, env=environment, dirs={"/": folder}, timeout=60)[0]
    assert (found.returncode, found.stdout, found.stderr) == expected
    assert not found.unknown_calls


@pytest.mark.parametrize("name", ["hello.c", "floats.c", "lines.c"])
def test_programs_with_musl(musl, qemu, tmp_path, name):
    alike(qemu, musl(name), [name, "3", "words"], b"one\ntwo three\n", tmp_path)


@pytest.mark.parametrize("asked", ["30", "41"])
def test_a_program_of_rust(rust, qemu, tmp_path, asked):
    alike(qemu, rust("words.rs"), ["words", asked], b"a b a\nc\n", tmp_path)
