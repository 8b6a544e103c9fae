"""What a GPU's code of guests is made of, without a GPU: instructions, loads and registers, by how steps are counted.

    python3 benchmarks/wasm/machine_code.py [--guests sha256,nbody] [--meters stop,tally] [--placement words/32/all/u]

Needs ptxas, and nvdisasm on the path (`pip install nvidia-cuda-nvdisasm` brings it along, in nvidia/*/bin).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile

import lanewise as lw
from lanewise.bench.wasm_guests import guest
from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run
from lanewise.compiler import Target
from lanewise.compiler.ptxas import assemble
from lanewise.wasm.build import gpu_build
from lanewise.wasm.lane_code import lane_code
from lanewise.wasm.lane_setup import lane_choices
from lanewise.wasm.placement import parse_placement

GUESTS = "sha256,nbody,pbkdf2,mix,lz,json,regex,pricing,mandelbrot"
_SM = 90
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P[T\d]+ )?([A-Z][A-Z0-9_.]*)", re.MULTILINE)


def instructions(cubin: bytes) -> list[str]:
    """The names of all instructions."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return _INSTRUCTION.findall(
            subprocess.run(["nvdisasm", "-c", file.name], check=True, capture_output=True, text=True).stdout
        )


def main() -> None:
    """Compile, and show a line for each guest and meter."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--guests", default=GUESTS)
    parser.add_argument("--meters", default="stop,tally,count")
    parser.add_argument("--placement", default="words/32/all/u")
    chosen = parser.parse_args()
    place = parse_placement(chosen.placement)
    print(f"{chosen.placement}, sm_{_SM}: instructions, those that load, registers, bytes spilled")
    for name in chosen.guests.split(","):
        model = lw.load(with_seeded_run(guest(name).read())).model
        index = next(export.index for export in model.exports if export.name == SEEDED)
        for meter in chosen.meters.split(","):
            made = {"lanes": True, "alignment": "exit", "meter": meter, "layout": place.layout}
            build = gpu_build(**made | lane_choices(model) | {"unrolled": place.unrolled, "marks": place.unrolled})
            codes = lane_code(model, index, build, (True, False), Target.nvptx(_SM), None).codes
            if len(codes) > 1:
                sys.exit(f"{name} is compiled in {len(codes)} pieces")
            report = assemble(codes[0], _SM)
            found = instructions(report.cubin)
            (kernel,) = report.kernels.values()
            loads = sum(one.startswith("LD") for one in found)
            print(f"{name:<11}{meter:<6}{len(found):>7,}{loads:>7,}{kernel.registers:>5}{kernel.spill_store_bytes:>7,}")


if __name__ == "__main__":
    main()
