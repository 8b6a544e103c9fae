"""Benchmarks that run Lanewise and its peers side by side, in one run on one machine; `lanewise bench` prints them."""

from lanewise.bench.registry import Benchmark, benchmarks
from lanewise.bench.result import Result, WrongResultError

__all__ = ["Benchmark", "Result", "WrongResultError", "benchmarks"]
