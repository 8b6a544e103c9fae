"""Count the bytes of a text with a program compiled from C, which keeps its state and calls back into Python."""

from pathlib import Path

import numpy as np

import lanewise as lw

module = lw.load(Path(__file__).with_name("tally.wasm"))
seen = []
dev = lw.device("cpu")  # functions written in Python run here only
tally = module.instantiate({"env": {"progress": seen.append}}, device=dev)

text = Path(__file__).read_bytes()
for start in range(0, len(text), 4096):
    part = text[start : start + 4096]
    tally.memory.write(tally.piece(), part)
    tally.feed(len(part))

counts = tally.memory.array(np.uint32, tally.counts(), 256)  # a view of the program's own memory
assert seen[-1] == counts.sum() == len(text)
print(f"{counts[ord('e')]} of {counts.sum():,} bytes are an e, counted on {dev}")
