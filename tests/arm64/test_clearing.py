"""DC ZVA, of which Unicorn clears more at once than Lanewise says that it does."""

from __future__ import annotations

import numpy as np

from lanewise.arm64.cpu import ParallelCPU

READ_SIZE, CLEAR = 0xD53B00E0, 0xD50B7421
"""mrs x0, dczid_el0; dc zva, x1"""


def test_a_line_is_cleared_and_nothing_else() -> None:
    cpu = ParallelCPU(2, 1024, "private", "cpu")
    cpu.memory = np.full(2048, 0xAB, np.uint8)
    cpu.load_program(READ_SIZE.to_bytes(4, "little") + CLEAR.to_bytes(4, "little"))
    states = cpu.states
    states[:, 1] = 520, 1030
    cpu.states = states
    result = cpu.execute(2)
    assert result.stop_reasons == ["cycles", "memory out of range"]
    size = 4 << int(cpu.states[0, 0])
    start = 520 // size * size
    memory = cpu.memory.reshape(2, -1)
    assert not memory[0, start : start + size].any()
    assert (np.delete(memory[0, 8:], np.arange(start - 8, start - 8 + size)) == 0xAB).all()
    assert (memory[1, 8:] == 0xAB).all()
