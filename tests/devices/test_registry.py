"""Choosing a device by name, and what is said where it is not there."""

import os
import re
import subprocess
import sys

import kernels
import numpy as np
import pytest

import lanewise as lw
from lanewise.lang import f32, u32


def test_the_same_name_gives_the_same_device():
    assert lw.device("cpu") is lw.device("cpu")


@pytest.mark.parametrize("name", [None, 0])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(lw.NoDeviceError, match="a device has a name"):
        lw.device(name)


@pytest.mark.parametrize("name", ["gpu", "cpu:1", "cuda:x", "", "null:0"])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(lw.NoDeviceError, match=r"there is no device '.*'; write auto, cpu, cuda, cuda:1 or null"):
        lw.device(name)


def test_auto_takes_a_gpu_if_there_is_one_else_the_cpu(monkeypatch):
    monkeypatch.delenv("LANEWISE_DEVICE", raising=False)
    try:
        expected = lw.device("cuda")
    except lw.NoDeviceError:
        expected = lw.device("cpu")
    assert lw.device() is expected


def test_the_environment_names_the_default_device(monkeypatch):
    monkeypatch.setenv("LANEWISE_DEVICE", "null")
    assert lw.device().name == "null"


def test_without_cuda_one_sentence_says_so():
    script = "import lanewise as lw\ntry: lw.device('cuda')\nexcept lw.NoDeviceError as absent: print(absent)"
    hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    run = subprocess.run([sys.executable, "-c", script], env=hidden, capture_output=True, text=True)
    assert run.stderr == ""
    assert re.fullmatch(r"[^.\n]*CUDA[^.\n]*\n", run.stdout)


def test_a_gpu_beyond_the_last_is_named():
    try:
        lw.device("cuda")
    except lw.NoDeviceError as absent:
        pytest.skip(str(absent))
    with pytest.raises(lw.NoDeviceError, match="there is no cuda:99; this machine has cuda:0 to"):
        lw.device("cuda:99")


def test_the_null_device_checks_and_compiles_and_runs_nothing():
    null = lw.device("null")
    x, y = null.array(np.ones(10, np.float32)), null.zeros(10, f32)
    assert kernels.scale[10](x, y, 10, 2.0).wait()
    assert not y.get().any()
    with pytest.raises(lw.ArgumentError, match="argument n of kernel scale"):
        kernels.scale[10](x, y, -1, 2.0)
    with pytest.raises(lw.ArgumentError, match="the array holds u32"):
        kernels.scale[10](x, null.zeros(10, u32), 10, 2.0)


def test_threads_to_fill_are_whole_groups(device):
    for group_size in (1, 64, 256, 1024):
        assert device.threads_to_fill(group_size) % group_size == 0
        assert device.threads_to_fill(group_size) > 0
