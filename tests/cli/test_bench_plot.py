"""Ratios as a picture: valid SVG, a bar for each comparison, longer where the ratio is further from 1."""

from xml.etree import ElementTree

import pytest

from lanewise.bench.plot import plot
from lanewise.bench.result import figure

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*rows):
    root = ElementTree.fromstring(plot(rows, "a <title> & more"))
    bars = [bar for bar in root.iter(f"{SVG}rect") if bar.get("fill") != "white"]
    return root, bars


def row(value, peer=1.0, what="program", unit="rounds/s", **more):
    return figure("wasm", "cpu", what, value, unit, peer="wasmtime", peer_value=peer, **more)


def test_every_comparison_has_a_bar_a_name_and_a_figure():
    root, bars = drawn(row(2.0, what="one & two"), row(0.5), row(3.0, peer=None), row(9.0, unit="ms"))
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert len(bars) == 2
    assert {"one & two, wasmtime", "program, wasmtime", "2.00x", "0.50x", "a <title> & more"} <= set(texts)


def test_bars_go_to_the_right_where_lanewise_is_faster():
    _, (faster, slower, much) = drawn(row(2.0), row(0.5), row(40.0))
    start = float(faster.get("x"))
    assert float(much.get("x")) == start
    assert float(much.get("width")) > float(faster.get("width")) > 0
    assert float(slower.get("x")) + float(slower.get("width")) == pytest.approx(start, abs=0.1)


def test_targets_are_marked_and_misses_have_a_colour_of_their_own():
    root, (met, missed, judged_by_nobody) = drawn(row(20.0, at_least=15), row(10.0, at_least=15), row(10.0))
    assert len(list(root.iter(f"{SVG}path"))) == 2
    assert met.get("fill") == judged_by_nobody.get("fill") != missed.get("fill")


@pytest.mark.parametrize("rows", [[], [row(3.0, peer=None)], [row(9.0, unit="ms")]])
def test_a_run_without_rates_to_compare_has_no_picture(rows):
    assert plot(rows, "a title") is None
