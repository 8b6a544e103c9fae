"""The stack switch for both instruction sets: it assembles, and where an emulator is present it runs."""

import shutil
import subprocess

import pytest

import lanewise as lw
from lanewise.devices.fibers import frame_layout, routines

HARNESS = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
extern void lw_switch(uint64_t *save, uint64_t load);
extern int lw_enter(uint64_t *save, void (*f)(long, long, long), long a, long b, long c);
extern void lw_leave(uint64_t sp, int code);
extern void lw_fiber(void);
static uint64_t scheduler, fiber, outer;
static void body(void *lane, void *args) {
    for (int i = 0; i < 3; i++) {
        printf("lane %s %s %d\n", (char *)lane, (char *)args, i);
        lw_switch(&fiber, scheduler);
    }
}
static void done(void *lane) { printf("done %s\n", (char *)lane); lw_switch(&fiber, scheduler); }
static void inner(long a, long b, long c) {
    printf("inner %ld %ld %ld\n", a, b, c);
    if (c == 3) lw_leave(outer, 7);
}
int main(void) {
    char *stack = aligned_alloc(64, 65536);
    uint64_t *frame = (uint64_t *)(stack + 65536) - WORDS;
    frame[LANE] = (uint64_t)"A"; frame[FUNCTION] = (uint64_t)body; frame[ARGS] = (uint64_t)"B";
    frame[DONE] = (uint64_t)done; frame[START] = (uint64_t)lw_fiber;
    fiber = (uint64_t)frame;
    double kept = 1.5;
    for (int i = 0; i < 4; i++) { lw_switch(&scheduler, fiber); kept *= 2; }
    printf("%g\n", kept);
    printf("%d ", lw_enter(&outer, inner, 1, 2, 3));
    printf("%d\n", lw_enter(&outer, inner, 4, 5, 6));
    return 0;
}
"""


def assembly(machine):
    """The routines as an assembler reads them, without LLVM, which assembles inline code for its own machine only."""
    text = ""
    for name, lines in routines(machine).items():
        text += f".globl {name}\n{name}:\n" + "\n".join(line.replace("$$", "$") for line in lines) + "\n"
    return text


@pytest.mark.parametrize(
    ("machine", "registers"),
    [
        ("x86_64", ["rbp", "rbx", "r12", "r13", "r14", "r15"]),
        ("aarch64", [f"x{n}" for n in range(19, 31)] + [f"d{n}" for n in range(8, 16)]),
    ],
)
def test_the_switch_keeps_every_callee_saved_register(machine, registers):
    switch = " ".join(routines(machine)["lw_switch"]).replace(",", " ").replace("%", "").split()
    for register in registers:
        assert switch.count(register) == 2, f"{register} must be saved once and restored once"


def test_an_unknown_machine_is_refused():
    with pytest.raises(lw.DeviceError, match="runs on x86-64 and AArch64, not on riscv64"):
        frame_layout("riscv64")


def test_the_aarch64_switch_runs(tmp_path):
    compiler, emulator = (
        shutil.which("aarch64-linux-gnu-gcc"),
        shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64"),
    )
    if not compiler or not emulator:
        pytest.skip("needs aarch64-linux-gnu-gcc and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu qemu-user)")
    (tmp_path / "fibers.s").write_text(assembly("aarch64"))
    (tmp_path / "main.c").write_text(HARNESS)
    layout = frame_layout("aarch64")
    defines = [
        f"-D{name.upper()}={getattr(layout, name)}" for name in ("words", "lane", "function", "args", "done", "start")
    ]
    program = tmp_path / "fibers"
    sources = [str(tmp_path / "main.c"), str(tmp_path / "fibers.s")]
    subprocess.run([compiler, "-O2", "-static", *defines, *sources, "-o", str(program)], check=True)
    run = subprocess.run([emulator, str(program)], capture_output=True, text=True, check=True)
    lines = ["lane A B 0", "lane A B 1", "lane A B 2", "done A", "24", "inner 1 2 3", "7 inner 4 5 6", "0"]
    assert run.stdout.splitlines() == lines
