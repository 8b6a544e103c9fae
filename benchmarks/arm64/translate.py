"""How long a whole AArch64 program takes to translate: compiled, and from the cache.

python benchmarks/arm64/translate.py PROGRAM [--device cpu]
"""

import argparse
import os
import tempfile
import time

import lanewise as lw
from lanewise.arm64.finding import Code
from lanewise.arm64.linux.elf import read_program


def main() -> None:
    """Translate from where it begins and from all that is called in it, twice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    program = read_program(chosen.program)
    code = [one for one in program.segments if one.executable]
    first = min(one.address for one in code) // 4 * 4
    end = max(one.address + one.size for one in code)
    content = program.image()[first - program.start : end - program.start]
    entries = [program.entry, *Code(content, first).called()]
    size = -(-(program.end - program.start) // (1 << 20)) * (1 << 20) + (4 << 20)

    def ready(translated: bool) -> float:
        cpu = lw.ParallelCPU(1, size, "private", chosen.device, program.start)
        cpu.load_elf(chosen.program)
        begin = time.perf_counter()
        if translated:
            cpu.translate(first, len(content) // 4 * 4, entries)
        cpu.prepare()
        return time.perf_counter() - begin

    with tempfile.TemporaryDirectory() as folder:
        os.environ["LANEWISE_CACHE_DIR"] = folder
        interpreter = ready(False)
        compiled, cached = ready(True), ready(True)
    print(
        f"{os.path.getsize(chosen.program):,} bytes, {len(content):,} of code, {len(entries):,} entries: interpreter "
        f"{interpreter:.1f} s, translated in {compiled:.1f} s, from the cache in {cached:.2f} s on {chosen.device}"
    )


if __name__ == "__main__":
    main()
