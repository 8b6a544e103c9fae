"""DC ZVA, of which Unicorn clears more at once than Lanewise says that it does."""

import numpy as np

import lanewise as lw

READ_SIZE, CLEAR = 0xD53B00E0, 0xD50B7421
"""mrs x0, dczid_el0; dc zva, x1"""


def test_a_line_is_cleared_and_nothing_else(device):
    cpu = lw.ParallelCPU(2, 1024, "private", device)
    cpu.write_memory(0, np.full((2, 1024), 0xAB, np.uint8))
    cpu.load_program(READ_SIZE.to_bytes(4, "little") + CLEAR.to_bytes(4, "little"))
    for number, address in enumerate((520, 1030)):
        cpu.set_registers_lane(number, {1: address})
    assert cpu.execute(2).stop_reasons == ["cycles", "memory out of range"]
    size = 4 << int(cpu.get_lane_registers(0)[0])
    start = 520 // size * size
    memory = cpu.read_memory_all(0, 1024)
    assert not memory[0, start : start + size].any()
    assert (np.delete(memory[0, 8:], np.arange(start - 8, start - 8 + size)) == 0xAB).all()
    assert (memory[1, 8:] == 0xAB).all()
