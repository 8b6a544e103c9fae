"""Code for a GPU, run by the host, one thread after the other: what lanes do there is tested where there is none.

Functions over arrays and CPUs of AArch64 have the GPU's own code then, but for the few instructions of PTX in it: where
lanes keep their memory, how they are handed out, end early and run again. What threads do together cannot be seen so.
"""

import ctypes
import re
import threading
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

import lanewise as lw
from lanewise.arm64 import cpu as arm64_cpu
from lanewise.arm64 import program as arm64_program
from lanewise.arm64.runners import CudaRunner
from lanewise.compiler import QUICK, Target, load_object
from lanewise.devices.cpu import CpuDevice
from lanewise.devices.cuda import NativeKernel
from lanewise.wasm import code_aside, cpu_lanes, cuda_lanes, prelude
from lanewise.wasm.cuda_lanes import CudaLanes
from lanewise.wasm.lanes import LaneProgram

LANE_DEVICES = "cpu", "gpu-code", "cuda"
"""Every device, and the host with the code of a GPU."""
THREADS = 256
"""As many lanes as this GPU has room for, so that some follow others in their slots."""
FRAME_BYTES, STACK_BYTES = 512, 4 * cuda_lanes.STACK_BYTES
"""Frames of a host are larger than those of a GPU."""
_ONE_BY_ONE = """
@gpu.thread = internal global i32 0
@gpu.way_out = global [64 x i64] zeroinitializer, align 16
declare i32 @_setjmp(ptr) returns_twice
define void @gpu_threads(ptr %run, i32 %n) noinline {
  store volatile i32 0, ptr @gpu.thread
  br label %head
head:
  %i = load volatile i32, ptr @gpu.thread
  %some = icmp ult i32 %i, %n
  br i1 %some, label %begin, label %done
begin:
  %ended = call i32 @_setjmp(ptr @gpu.way_out) returns_twice
  %first = icmp eq i32 %ended, 0
  br i1 %first, label %go, label %next
go:
  call void @gpu_thread(ptr %run, i32 %n, ptr null)
  br label %next
next:
  %j = load volatile i32, ptr @gpu.thread
  %after = add i32 %j, 1
  store volatile i32 %after, ptr @gpu.thread
  br label %head
done:
  ret void
}
"""
"""A thread ends by `exit` in the midst of calls: here by a jump back to where it was begun."""
_END_IF = """
define internal void @gpu.end_if(i32 %ends, ptr %at, i64 %why) {
  %none = icmp eq i32 %ends, 0
  br i1 %none, label %on, label %end
end:
  store i64 %why, ptr %at
  call void @longjmp(ptr @gpu.way_out, i32 1)
  unreachable
on:
  ret void
}
"""


def portable(ir):
    """A piece of a program without PTX."""
    replaced = (
        (r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(?:ctaid|ntid)\.x\(\)", "add i32 0, 0"),
        (r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.tid\.x\(\)", "load volatile i32, ptr @gpu.thread"),
        (r"call i32 @llvm\.nvvm\.vote\.ballot\.sync\(i32 -1, i1 (%\w+)\)", r"zext i1 \1 to i32"),
        (r"call i32 @llvm\.nvvm\.shfl\.sync\.idx\.i32\(i32 -1, i32 (%\w+), [^\n]*", r"add i32 \1, 0"),
        (
            r'call i32 asm sideeffect "ld\.global\.L1::no_allocate\.u32 \$0, \[\$1\];", "[^"]*"\((ptr %\w+)\)',
            r"load volatile i32, \1",
        ),
        (r'call void asm sideeffect "\{ [^"]* @p exit; \}", "[^"]*"\(', "call void @gpu.end_if("),
        (r'call void asm sideeffect "exit;", "[^"]*"\(\)', "call void @longjmp(ptr @gpu.way_out, i32 1)"),
        (r'call i64 asm "mov\.b64 \$0, \$1;", "=l,l"\(i64 (%\w+)\)', r"add i64 \1, 0"),
        (r'call i32 asm "mov\.b32 \$0, 1;", "=r"\(\)', "add i32 0, 1"),
        (r'call i32 asm "add\.u32 \$0, \$1, 1;", "=r,r"\(i32 (%\w+)\)', r"add i32 \1, 1"),
        (r'asm sideeffect "", "l"\(', 'asm sideeffect "", "r"('),
        (r'call i32 asm sideeffect "activemask\.b32 \$0;", "=r"\(\) convergent', "add i32 0, 1"),
        (r"call i64 @llvm\.nvvm\.read\.ptx\.sreg\.globaltimer\(\)", "call i64 @llvm.readcyclecounter()"),
        (r"call void @llvm\.nvvm\.nanosleep\(i32 1000\)", "fence seq_cst"),
        (r"define ptx_kernel void @\w+\(([^)]*)\)[^{\n]*\{", r"define internal void @gpu_thread(\1) noinline {"),
    )
    entered = "define ptx_kernel" in ir
    for pattern, text in replaced:
        ir = re.sub(pattern, text, ir)
    assert "nvvm" not in ir.replace("nvvm-reflect", ""), re.findall(r"[^\n]*nvvm[^\n]*", ir)
    way_out = _ONE_BY_ONE if entered else "@gpu.way_out = external global [64 x i64]\n"
    return f"{ir}\n{way_out}{_END_IF}declare void @longjmp(ptr, i32) noreturn\n"


class GpuOnHost(CpuDevice):
    """A device that runs what a GPU would."""

    def __init__(self, target):
        super().__init__()
        self.name = "cuda:host"
        self.target = target
        self.properties = replace(self.properties, name=self.name, resident_threads=THREADS)
        self.measuring = threading.Lock()
        self._stop = ctypes.c_uint64(0)
        self._launching = threading.Lock()
        self._running = None

    @property
    def stop_word(self):
        return ctypes.addressof(self._stop)

    def load_native(self, codes, name, entry, layout, stack):
        library = load_object(codes, ["gpu_threads"], {})
        function = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint32)(library.address("gpu_threads"))
        return NativeKernel(name, (function, library, stack > 0), FRAME_BYTES)

    def launch_native(self, kernel, *given, **more):
        if not isinstance(kernel, NativeKernel):  # of an instance, which runs as on a CPU
            return super().launch_native(kernel, *given, **more)
        threads, _, values = given
        with self._launching:
            self.synchronize()
            function, _, waited_for = kernel.handle
            running = threading.Thread(target=function, args=(*values, threads))
            running.start()
            self._running = running
            if not waited_for:  # memory is given back at once here, and not behind the launches that use it
                running.join()
        return None

    def finish_or_stop(self, timeout=None, word=None):
        stop = self._stop if word is None else ctypes.c_uint64.from_address(word)
        self._running.join(timeout)
        finished = not self._running.is_alive()
        stop.value = 1
        self._running.join()
        stop.value = 0
        return finished

    def synchronize(self):
        super().synchronize()
        if self._running is not None:
            self._running.join()

    wait = synchronize

    def threads_at_once(self, kernel, group_size):
        return THREADS

    def assemble_ahead(self, programs, name):
        pass

    def read(self, address, nbytes):
        self.synchronize()
        return np.frombuffer(ctypes.string_at(address, nbytes), np.uint8)

    def write(self, address, data):
        self.synchronize()
        ctypes.memmove(address, data, len(data))

    def clear(self, address, nbytes):
        self.write(address, bytes(nbytes))


@contextmanager
def arm64_on_host():
    """The device, while CPUs of AArch64 that are made on it run so."""
    runner_for, jobs, key = arm64_cpu.runner_for, arm64_program._jobs, arm64_program._key

    def portable_jobs(target, pieces, *level):
        if target.kind != "nvptx":
            return jobs(target, pieces, *level)
        host = Target.host()
        return [replace(job, ir=portable(job.ir), target=host, level=QUICK) for job in jobs(target, pieces, *level)]

    def runner(device):
        return CudaRunner(device) if isinstance(device, GpuOnHost) else runner_for(device)

    found = GpuOnHost(Target.nvptx(90))
    with (
        mock.patch.object(arm64_program, "_jobs", portable_jobs),
        mock.patch.object(arm64_program, "_key", lambda target, what, of: key(target, f"on the host {what}", of)),
        mock.patch.object(arm64_cpu, "runner_for", runner),
    ):
        yield found
    found.close()


@contextmanager
def lanes_on_host():
    """The device, while functions over arrays that are made for it run so."""
    lane_parts, lanes_of_cpu = LaneProgram.parts, cpu_lanes.CpuLanes
    signs, opaque = prelude._signs, prelude._opaque

    def parts(self, count=1):
        made = lane_parts(self, count)
        return [replace(part, ir=portable(part.ir)) for part in made] if self.build.gpu else made

    def lanes(module, index, device, **choices):
        kind = CudaLanes if isinstance(device, GpuOnHost) else lanes_of_cpu
        return kind(module, index, device, **choices)

    found = GpuOnHost(Target.host())
    with (
        mock.patch.object(LaneProgram, "parts", parts),
        mock.patch.object(cpu_lanes, "CpuLanes", lanes),
        mock.patch.object(cuda_lanes, "STACK_BYTES", STACK_BYTES),
        mock.patch.object(code_aside, "find_ptxas", return_value=None),
        mock.patch.object(prelude, "_signs", lambda build: signs(replace(build, gpu=False))),
        mock.patch.object(prelude, "_opaque", lambda build: opaque(replace(build, gpu=False))),
    ):
        yield found
    found.close()


def lane_device(name, on_host):
    """What a fixture does for one of them: `on_host` is what runs a GPU's code; a device that is absent is skipped."""
    if name == "gpu-code":
        with on_host() as found:
            yield found
        return
    try:
        yield lw.device(name)
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))
