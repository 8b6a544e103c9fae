"""`lanewise info`: for people and for programs, also where something is wrong."""

import json
from importlib.metadata import version

import pytest

import lanewise as lw


def test_names_the_cpu_and_what_auto_takes(command):
    done = command("info", LANEWISE_DEVICE="cpu")
    assert done.returncode == 0, done.stderr
    assert "cpu (auto)" in done.stdout
    assert lw.device("cpu").properties.name in done.stdout
    assert "auto takes cpu" in done.stdout
    for fact in ("1,024 threads", "32 threads", "resident threads", "architecture", f"lanewise      {lw.__version__}"):
        assert fact in done.stdout


def test_json_says_the_same_to_programs(command):
    done = command("info", "--json", LANEWISE_CPU_THREADS="1", LANEWISE_DEVICE="cpu")
    report = json.loads(done.stdout)
    cpu = report["devices"][0]
    assert (cpu["name"], cpu["cores"], cpu["max_group_size"], cpu["warp_size"]) == ("cpu", 1, 1024, 32)
    assert cpu["memory_bytes"] > 0
    assert cpu["details"]["architecture"]
    assert report["auto"] == "cpu"
    assert report["versions"]["lanewise"] == lw.__version__
    assert report["versions"]["llvmlite"] == version("llvmlite")
    assert report["versions"]["llvm"].startswith("22.")


def why_cuda_is_absent() -> str | None:
    try:
        lw.device("cuda")
    except lw.NoDeviceError as absent:
        return str(absent)
    return None


@pytest.mark.skipif(why_cuda_is_absent() is None, reason="there is a CUDA device")
def test_absent_cuda_has_a_reason(command):
    reason = why_cuda_is_absent()
    assert json.loads(command("info", "--json").stdout)["absent"]["cuda"] == reason
    assert f"cuda: {reason}" in command("info").stdout


def test_cache_size_and_limit(command, tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "entry.code").write_bytes(bytes(3 * 2**20))
    settings = {"LANEWISE_CACHE_DIR": str(tmp_path), "LANEWISE_CACHE_SIZE": "512M"}
    command("info", **settings)  # opening the CPU device puts its runtime into the cache
    held = sum(entry.stat().st_size for entry in (tmp_path / "code").iterdir())
    report = json.loads(command("info", "--json", **settings).stdout)
    assert held > 3 * 2**20
    assert report["cache"] == {"directory": str(tmp_path), "bytes": held, "limit": 512 * 2**20}
    assert f"{tmp_path} (3.0 MiB of 512.0 MiB)" in command("info", **settings).stdout


def test_cache_that_is_off(command):
    assert "(turned off)" in command("info", LANEWISE_CACHE_SIZE="0").stdout


def test_a_bad_default_device_is_a_line_not_a_failure(command):
    done = command("info", LANEWISE_DEVICE="tpu")
    assert done.returncode == 0
    assert "auto takes no device: there is no device 'tpu', which LANEWISE_DEVICE names; write " in done.stdout


def test_a_bad_setting_is_one_sentence(command):
    done = command("info", LANEWISE_CACHE_SIZE="lots")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "lanewise: LANEWISE_CACHE_SIZE is 'lots'; write a number of bytes, or one with K, M or G behind it"
    ]


def test_missing_ptxas_is_no_problem(command, tmp_path):
    done = command("info", "--json", PATH=str(tmp_path), CUDA_HOME=str(tmp_path), CUDA_PATH=str(tmp_path))
    assert done.returncode == 0
    assert "ptxas" in json.loads(done.stdout)
