"""What rules cost that no build leaves out: the NaN of the specification, and the depth of calls on a GPU.

    python3 benchmarks/wasm/costs.py [--device cuda] [--lanes 16384]

Each guest runs as it is compiled, and once more with one rule taken out of the compiler, in a process and with a cache
of its own. Such code is not safe to use, which is why there is no option for it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

CASES = [("blur", "nan"), ("nbody", "nan"), ("fib", "depth"), ("dispatch", "depth")]
"""A guest, and the rule that is taken out: f32 and f64 arithmetic, recursion, calls through a table."""
_SHARE = 3_000
"""The rounds of a lane are this part of a guest's usual ones: about a tenth of a millisecond on one core."""


def without(rule: str) -> None:
    """Take a rule out of the compiler of this process."""
    from lanewise.wasm import lowering, program

    if rule == "nan":
        lowering.settle_nan = lambda fn, op, result, operands: result
    elif rule == "depth":
        program.stack_checks = lambda lowered: set()


def measure(name: str, device: str, lanes: int) -> dict[str, object]:
    """The time of one guest in this process, and what its lanes returned."""
    import numpy as np

    import lanewise as lw
    from lanewise.bench.timing import medians
    from lanewise.bench.wasm_guests import guest
    from lanewise.bench.wasm_seeded import SEEDED, with_seeded_run

    found = guest(name)
    function = lw.load(with_seeded_run(found.read())).func(SEEDED, device=lw.device(device))
    rounds, seeds = max(1, found.rounds // _SHARE), np.arange(lanes, dtype=np.int32)
    given = np.asarray(function(rounds, seeds))
    taken = medians({"run": lambda: function(rounds, seeds), "set-up": lambda: function(0, seeds)}, rounds=5)
    return {"ms": taken["run"] * 1e3, "setup_ms": taken["set-up"] * 1e3, "sum": str(given.sum())}


def main() -> int:
    """Measure all cases, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=16_384)
    parser.add_argument("--one", nargs=2, metavar=("GUEST", "RULE"), help="measure one guest here, without one rule")
    chosen = parser.parse_args()
    if chosen.one:
        without(chosen.one[1])
        print(json.dumps(measure(chosen.one[0], chosen.device, chosen.lanes)))
        return 0
    status = 0
    print(f"{'guest':10} {'rule':8} {'with, ms':>10} {'without, ms':>12} {'set-up, ms':>11} {'cost':>7}")
    for name, rule in CASES:
        rows = []
        for taken_out in ("none", rule):
            with tempfile.TemporaryDirectory() as cache:
                command = [sys.executable, __file__, "--device", chosen.device, "--lanes", str(chosen.lanes)]
                done = subprocess.run(
                    [*command, "--one", name, taken_out],
                    env=os.environ | {"LANEWISE_CACHE_DIR": cache},
                    stdout=subprocess.PIPE,
                    check=True,
                )
            rows.append(json.loads(done.stdout))
        if rows[0]["sum"] != rows[1]["sum"]:
            print(f"{name}: the results differ without the rule of {rule}")
            status = 1
        cost = (rows[0]["ms"] - rows[1]["ms"]) / (rows[1]["ms"] - rows[1]["setup_ms"])
        figures = f"{rows[0]['ms']:10.1f} {rows[1]['ms']:12.1f} {rows[1]['setup_ms']:11.1f} {cost:7.1%}"
        print(f"{name:10} {rule:8} {figures}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
