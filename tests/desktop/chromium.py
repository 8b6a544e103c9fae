"""A real browser, driven by its own protocol: pointer, keyboard and screenshots as a person would have them."""

import asyncio
import base64
import io
import itertools
import os
import shutil
import signal
import tempfile
from pathlib import Path

import numpy as np
from aiohttp import ClientSession

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SIZE = (900, 640)


def find_chromium() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Chromium:
    """A browser with one page; `async with Chromium(program) as browser`."""

    def __init__(self, program: str) -> None:
        self.program = program
        self._numbers = itertools.count(1)

    async def __aenter__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="lanewise-chromium-", ignore_cleanup_errors=True)
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        self._process = await asyncio.create_subprocess_exec(
            self.program,
            *options,
            "--remote-debugging-port=0",
            f"--user-data-dir={self._profile.name}",
            f"--window-size={SIZE[0]},{SIZE[1]}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": self._profile.name},
            start_new_session=True,
        )
        port_file = Path(self._profile.name, "DevToolsActivePort")
        async with asyncio.timeout(60):
            while not (port_file.exists() and port_file.read_text().count("\n")):
                await asyncio.sleep(0.05)
        port = port_file.read_text().splitlines()[0]
        self._session = ClientSession()
        async with self._session.get(f"http://127.0.0.1:{port}/json") as answer:
            pages = [page for page in await answer.json() if page["type"] == "page"]
        self._socket = await self._session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
        return self

    async def __aexit__(self, *_):
        await self._session.close()
        os.killpg(self._process.pid, signal.SIGKILL)  # its helpers, too, which would go on writing into the profile
        await self._process.wait()
        self._profile.cleanup()

    async def do(self, method: str, **parameters):
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(30):
            while True:
                answer = await self._socket.receive_json()
                if answer.get("id") == number:
                    assert "error" not in answer, answer
                    return answer["result"]

    async def evaluate(self, script: str):
        found = await self.do("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def wait_for(self, script: str):
        async with asyncio.timeout(30):
            while not await self.evaluate(script):
                await asyncio.sleep(0.05)

    async def mouse(self, kind: str, x: float, y: float, **more):
        await self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    async def click(self, x: float, y: float):
        await self.mouse("mouseMoved", x, y)
        await self.mouse("mousePressed", x, y, button="left", clickCount=1)
        await self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    async def type(self, text: str):
        for letter in text:
            await self.do("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            await self.do("Input.dispatchKeyEvent", type="keyUp", key=letter)

    async def key(self, key: str, code: str, *modifiers: str):
        """A key by what it means and by its place on the keyboard; Windows has a number for each place, too."""
        bits = sum({"Alt": 1, "Control": 2, "Shift": 8}[name] for name in modifiers)
        for kind in ("rawKeyDown", "keyUp"):
            place = {"code": code, "windowsVirtualKeyCode": ord(code[-1])}
            await self.do("Input.dispatchKeyEvent", type=kind, key=key, modifiers=bits, **place)

    async def screenshot(self) -> np.ndarray:
        from PIL import Image

        data = (await self.do("Page.captureScreenshot", format="png"))["data"]
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))
