"""Image processing: one thread per pixel paints a picture, then turns it to grey; both are written as PNG files."""

import argparse
import struct as binary
import zlib
from pathlib import Path

import numpy as np

import lanewise as lw
from lanewise.lang import Ptr, kernel, struct, thread_id, u8, u32


@struct
class Pixel:
    """One pixel, as the host and the device both see it."""

    red: u8
    green: u8
    blue: u8


@kernel
def paint(image: Ptr[Pixel], width: u32, height: u32):
    i = thread_id()
    x = i % width
    y = i // width
    image[i].red = u8(x * 255 // width)
    image[i].green = u8(y * 255 // height)
    image[i].blue = u8((x ^ y) & 255)


@kernel
def grayscale(image: Ptr[Pixel], grey: Ptr[u8]):
    i = thread_id()
    red, green, blue = u32(image[i].red), u32(image[i].green), u32(image[i].blue)
    grey[i] = u8((77 * red + 150 * green + 29 * blue) >> 8)


def run(device: lw.Device, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """The painted picture, height x width x 3 bytes, and its grey version, height x width bytes."""
    image = device.empty((height, width), Pixel)
    grey = device.empty((height, width), u8)
    paint[width * height](image, width, height)
    grayscale[width * height](image, grey)
    return image.get().view(np.uint8).reshape(height, width, 3), grey.get()


def png(pixels: np.ndarray) -> bytes:
    """A picture of 8-bit grey or RGB pixels as the bytes of a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return binary.pack(">I", len(data)) + kind + data + binary.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape[:2]
    colour_type = 2 if pixels.ndim == 3 else 0
    header = binary.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    rows = np.insert(pixels.reshape(height, -1), 0, 0, axis=1)  # each row starts with its filter, 0 for none
    packed = zlib.compress(rows.tobytes())
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--size", type=int, nargs=2, default=(640, 427), metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--out", type=Path, default=Path("out"), help="directory for colour.png and grey.png")
    options = parser.parse_args()
    device = lw.device(options.device)
    colour, grey = run(device, *options.size)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, picture in (("colour.png", colour), ("grey.png", grey)):
        (options.out / name).write_bytes(png(picture))
    width, height = options.size
    print(f"{width} x {height} pixels on {device}: wrote {options.out / 'colour.png'} and {options.out / 'grey.png'}")
