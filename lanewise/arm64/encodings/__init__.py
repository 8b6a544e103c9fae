"""The table of encodings: each instruction's words, fields and meaning, once."""

from dataclasses import replace

from lanewise.arm64.encodings import branches, floating, immediate, memory, register, vector
from lanewise.arm64.encodings.row import Row

TABLE: list[Row] = [*immediate.ROWS, *branches.ROWS, *register.ROWS, *memory.ROWS, *floating.ROWS, *(replace(row, apart=True) for row in vector.ROWS)]
