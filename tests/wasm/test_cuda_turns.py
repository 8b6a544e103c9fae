"""What a call of a function on a GPU measures: without a GPU."""

import numpy as np
import pytest

from lanewise.wasm.build import gpu_build
from lanewise.wasm.cuda_lanes import CudaLanes
from lanewise.wasm.tuning import Tuner

THREADS = 256


@pytest.fixture(autouse=True)
def nothing_known(tmp_path, monkeypatch):
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(tmp_path))


def test_calls_with_other_work_are_not_compared_with_each_other():
    work = [1e-3]
    made = object.__new__(CudaLanes)
    made._pinned, made._build = None, gpu_build(lanes=True)
    made.__dict__["_tuner"] = Tuner(("lanes",), "a GPU", THREADS, search=True)
    made._load = lambda scalars, build: None
    made._launch = lambda scalars, build, place, given, results, status, elements, indices: len(elements) * work[0]
    for work[0], count in ((1e-3, THREADS), (1e-6, 100 * THREADS)):  # the first is too short to try anything
        made._run_placed((), [], [], None, count)
    assert made._tuner.known.ratios
    assert set(np.round(list(made._tuner.known.ratios.values()), 6)) == {1.0}
