"""The same peer as `programs_host.c`, on wasmtime's Python package.

python -m lanewise.bench.programs_host WORKERS MODULE FOLDER NAME...
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

wasmtime: Any = importlib.import_module("wasmtime")


def main() -> None:
    """Compile, then share the files among processes, which was a fifth faster than among threads."""
    workers, path, folder, *names = sys.argv[1:]
    config = wasmtime.Config()
    config.cache = True
    engine = wasmtime.Engine(config)
    module = wasmtime.Module.from_file(engine, path)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    children = []
    for worker in range(int(workers)):
        child = 0 if workers == "1" else os.fork()
        if child == 0:
            _run(engine, linker, module, folder, names[worker :: int(workers)])
            os._exit(0)
        children.append(child)
    sys.exit(any(os.waitpid(child, 0)[1] for child in children))


def _run(engine: Any, linker: Any, module: Any, folder: str, names: Sequence[str]) -> None:
    for name in names:
        wasi = wasmtime.WasiConfig()
        wasi.argv = ["json.wasm", f"{folder}/{name}"]
        wasi.inherit_stdout()
        wasi.preopen_dir(folder, folder, False)
        store = wasmtime.Store(engine)
        store.set_wasi(wasi)
        try:
            linker.instantiate(store, module).exports(store)["_start"](store)
        except wasmtime.ExitTrap as trap:
            if trap.code:
                os._exit(1)
        store.close()


if __name__ == "__main__":
    main()
