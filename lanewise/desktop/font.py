"""The font: found on this machine, drawn large by FreeType, turned into fields of distances on a device, and kept."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import tempfile
import unicodedata
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lanewise.desktop.distance import FINE, SPREAD, Cell, measure_columns, measure_fields
from lanewise.desktop.kerning import read_kerning
from lanewise.desktop.state import GlyphShape
from lanewise.errors import LanewiseError
from lanewise.settings import cache_dir

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

    from lanewise.devices.base import Device

EM = 64
"""Pixels of the atlas per font size."""
ATLAS_WIDTH = 1024
RANGES = (
    (0x20, 0x7E),  # Latin
    (0xA0, 0x36F),  # with the letters of phonetics, and accents that go over the letter before them
    (0x370, 0x3FF),  # Greek
    (0x400, 0x52F),  # Cyrillic
    (0x1E00, 0x1EFF),  # Latin of Vietnam, Wales and others
    (0x1F00, 0x1FFF),  # Greek with all its accents
    (0x2000, 0x2027),  # spaces and punctuation
    (0x202F, 0x2044),
    (0x20A0, 0x20BF),  # currencies
    (0x2116, 0x2116),
    (0x2122, 0x2122),
    (0x2190, 0x2193),
    (0x2202, 0x2265),  # some of mathematics
    (0xFB00, 0xFB06),  # ligatures
)
BLANK = (
    (0x00, 0x1F),  # control characters; what ends lines of labels is not drawn
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x061C, 0x061C),
    (0x180E, 0x180E),
    (0x200B, 0x200F),  # joiners, directions and places for breaks
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
)
"""What has neither ink nor width, whatever the font has for it."""
TAB, TAB_SPACES = 0x09, 4
"""A tab is as wide as so many spaces."""
SCRIPTS = (("latn", 0x20, 0x7E), ("grek", 0x386, 0x3CE), ("cyrl", 0x400, 0x45F))
"""Within each of these, by OpenType's names, every pair of letters without accents is asked for its kerning."""
LEAST_KERNING = 0.002
"""Ems; what is less is not seen."""
SYSTEM_FONTS = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
)
FORMAT = "6"
"""Of what is kept on disk; another one is made anew."""


@dataclass(frozen=True)
class FontTables:
    """A font as the device reads it."""

    codes: np.ndarray[Any, Any]
    shapes: np.ndarray[Any, Any]
    kerning: np.ndarray[Any, Any]
    atlas: np.ndarray[Any, Any]
    ascent: float
    x_height: float


def find_font() -> Path:
    """The TrueType file that is used where none is named: Roboto of the package font-roboto, else DejaVu Sans."""
    found = importlib.util.find_spec("font_roboto")
    if found is not None and found.origin is not None:
        path = Path(found.origin).parent / "files" / "Roboto-Regular.ttf"
        if path.exists():
            return path
    for name in SYSTEM_FONTS:
        if Path(name).exists():
            return Path(name)
    raise LanewiseError("no font was found; install one with pip install font-roboto, or name a TrueType file")


def load_font(device: Device, path: Path | None = None) -> FontTables:
    """The tables of a font; they are made on the device when they are first asked for, and kept in the cache."""
    path = path or find_font()
    try:
        digest = hashlib.sha256(path.read_bytes() + f"{FORMAT} {EM} {FINE} {SPREAD}".encode()).hexdigest()
    except OSError as error:
        raise LanewiseError(f"the font {path} cannot be read: {error.strerror}") from None
    kept = cache_dir() / "fonts" / f"{digest}.npz"
    tables = _read(kept)
    if tables is None:
        tables = _make(device, path)
        _write(kept, tables)
    return tables


def _read(kept: Path) -> FontTables | None:
    try:
        with np.load(kept, allow_pickle=False) as parts:
            arrays = {name: parts[name] for name in ("codes", "shapes", "kerning", "atlas")}
            lines = parts["lines"].tolist()
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):  # not there, or not whole: made anew
        return None
    return FontTables(**arrays, ascent=lines[0], x_height=lines[1])


def _write(kept: Path, tables: FontTables) -> None:
    """Keep the tables for the next time; without a cache that can be written they are made every time."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as file:
            np.savez(
                file,
                codes=tables.codes,
                shapes=tables.shapes,
                kerning=tables.kerning,
                atlas=tables.atlas,
                lines=np.array([tables.ascent, tables.x_height]),
            )
        os.replace(file.name, kept)
    except OSError:
        return


def _make(device: Device, path: Path) -> FontTables:
    try:
        from PIL import ImageFont
    except ImportError:
        raise LanewiseError("fonts are drawn by Pillow; install it with pip install pillow") from None
    try:
        face = ImageFont.truetype(str(path), EM * FINE, layout_engine=ImageFont.Layout.BASIC)
    except OSError as error:
        raise LanewiseError(f"{path} is not a font that FreeType reads: {error}") from None
    missing, _ = _outline(face, "\uffff")
    outlines: list[np.ndarray[Any, Any]] = [missing]
    corners = [_outline(face, "\uffff")[1]]
    letters = ["\uffff"]
    for first, last in RANGES:
        for code in range(first, last + 1):
            outline, corner = _outline(face, chr(code))
            if not is_blank(code) and not np.array_equal(outline, missing):
                outlines.append(outline)
                corners.append(corner)
                letters.append(chr(code))
    cells, height = _pack(outlines)
    atlas = _fields(device, outlines, cells, height)
    shapes = np.zeros(len(letters) + 2, GlyphShape.dtype)
    # One more than there are: the last one stands for all that are beyond.
    codes = np.zeros(max(BLANK[-1][1], *map(ord, letters[1:])) + 2, np.uint16)
    for index, letter in enumerate(letters):
        shape = shapes[index]
        if index:
            codes[ord(letter)] = index
        for name in ("u", "v", "w", "h"):
            shape[name] = cells[index][name]
        left, top = corners[index]
        shape["left"] = left / (EM * FINE)
        shape["top"] = top / (EM * FINE)
        shape["advance"] = face.getlength(letter) / (EM * FINE)
    blank, tab = len(letters), len(letters) + 1
    for first, last in BLANK:
        codes[first : last + 1] = blank
    codes[TAB] = tab
    shapes[tab]["advance"] = TAB_SPACES * shapes[codes[ord(" ")]]["advance"]
    kerning = _kerning(path, codes, shapes)
    ascent, _ = face.getmetrics()
    x_height = -face.getbbox("x", anchor="ls")[1]
    scale = EM * FINE
    return FontTables(codes, shapes, kerning, atlas, ascent / scale, x_height / scale)


def is_blank(code: int) -> bool:
    """Whether a code point has neither ink nor width."""
    return any(first <= code <= last for first, last in BLANK)


def _outline(face: FreeTypeFont, letter: str) -> tuple[np.ndarray[Any, Any], tuple[float, float]]:
    """A letter, drawn large with room for its distances, in whole pixels of the atlas; and its upper left corner.

    The corner is seen from the pen: to the right and up.
    """
    from PIL import Image, ImageDraw

    left, top, right, bottom = face.getbbox(letter, anchor="ls")
    if right <= left or bottom <= top:
        return np.zeros((0, 0), np.uint8), (0.0, 0.0)
    room = FINE * SPREAD
    width = -(-int(right - left + 2 * room) // FINE) * FINE
    height = -(-int(bottom - top + 2 * room) // FINE) * FINE
    picture = Image.new("L", (width, height))
    ImageDraw.Draw(picture).text((room - left, room - top), letter, fill=255, font=face, anchor="ls")
    return np.asarray(picture), (left - room, room - top)


def _pack(outlines: list[np.ndarray[Any, Any]]) -> tuple[np.ndarray[Any, Any], int]:
    """Where each field goes in the atlas: in shelves, the highest first; and how high the atlas is."""
    cells = np.zeros(len(outlines), Cell.dtype)
    x = y = shelf = fine = columns = 0
    for index in sorted(range(len(outlines)), key=lambda index: -outlines[index].shape[0]):
        height, width = (size // FINE for size in outlines[index].shape)
        if x + width > ATLAS_WIDTH:
            x, y, shelf = 0, y + shelf, 0
        cells[index]["u"], cells[index]["v"], cells[index]["w"], cells[index]["h"] = x, y, width, height
        x += width
        shelf = max(shelf, height)
    for index, outline in enumerate(outlines):
        cells[index]["outline"], cells[index]["columns"] = fine, columns
        fine += outline.size
        columns += outline.size // FINE
    return cells, y + shelf + 1


def _fields(
    device: Device, outlines: list[np.ndarray[Any, Any]], cells: np.ndarray[Any, Any], height: int
) -> np.ndarray[Any, Any]:
    flat = np.concatenate([outline.ravel() for outline in outlines])
    full = cells[cells["w"] > 0]  # a letter without ink has no place in the order of indices
    found = device.array(full)
    total = flat.size // FINE
    columns = device.empty((total, 2), np.uint16)
    atlas = device.zeros((height, ATLAS_WIDTH), np.uint8)
    measure_columns[total](found, full.size, device.array(flat), columns, total)
    measure_fields[total // FINE](found, full.size, columns, atlas, ATLAS_WIDTH, total // FINE)
    return atlas.get()


def _kerning(path: Path, codes: np.ndarray[Any, Any], shapes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How much further apart pairs stand than their advances say; `shapes` learn their rows and columns.

    A letter with an accent is kerned as the one without: asking for each pair takes long.
    """
    kerning = read_kerning(path.read_bytes())
    alike: dict[int, list[int]] = {}
    for code in np.flatnonzero(codes).tolist():
        alike.setdefault(ord(unicodedata.normalize("NFD", chr(code))[0]), []).append(int(codes[code]))
    table = np.zeros((len(shapes), len(shapes)), np.float32)
    for script, start, end in SCRIPTS:
        bases = [code for code in range(start, end + 1) if code in alike]
        for first in bases:
            for second in bases:
                amount = kerning.amount(first, second, script)
                if abs(amount) > LEAST_KERNING:
                    table[np.ix_(alike[first], alike[second])] = amount
    # Most letters are kerned like many others: of rows and columns that are equal one is kept.
    rows, shapes["before"] = np.unique(table, axis=0, return_inverse=True)
    columns, shapes["after"] = np.unique(rows, axis=1, return_inverse=True)
    return np.ascontiguousarray(columns)
