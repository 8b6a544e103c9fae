"""The page: a desktop in the browser, over HTTP and a WebSocket on this machine, for who was given its address."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import WSMsgType, web

from lanewise.desktop import limits
from lanewise.desktop.display.changes import promised
from lanewise.desktop.display.runner import Runner
from lanewise.desktop.display.viewers import Screen, Viewer
from lanewise.errors import LanewiseError

FILES = Path(__file__).parent
HOST = "127.0.0.1"
COOKIE = "lanewise_desktop"
LONGEST_MESSAGE = 64 * 1024
"""Bytes that a viewer may send at once: events and pasted text."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
COPIED = "copied"
PRESSES, RELEASES = "pointer_down", "pointer_up"
RELEASE = {"event_type": RELEASES, "x": -1, "y": -1, "button": 1}
"""Lets go of what is held where it is no click; the page says the same of a press that the browser takes away."""
A_MOMENT = 0.005
"""Seconds, less than frames are apart."""
Found = TypeVar("Found")


class Page:
    """Serves one desktop. Who has an address with a token that was not used yet becomes a viewer, by a cookie.

    Every address works once; `on_address` is told the next one. Requests for another host, and sockets from another
    origin, are refused: so no other site that the person has open reaches the desktop.
    """

    def __init__(self, runner: Runner, on_address: Callable[[str], Any]) -> None:
        desktop = runner.desktop
        self.runner = runner
        self.screen = Screen(-(-desktop.width // limits.TILE) * -(-desktop.height // limits.TILE))
        self._on_address = on_address
        self._token = ""
        self._copies = 0
        """How many had been made when somebody was told of one last."""
        self._sessions: set[str] = set()
        self._port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._served: web.AppRunner | None = None

    async def start(self, port: int = 0) -> None:
        """Begin to serve on this port of this machine alone, any free one for 0; says the first address."""
        self._loop = asyncio.get_running_loop()
        self.runner.on_tiles = self._take_tiles
        app = web.Application(middlewares=[self._guard])
        app.router.add_get("/", self._enter, allow_head=False)  # who asks for the head alone would use up the token
        app.router.add_get("/page.js", self._file)
        app.router.add_get("/page.css", self._file)
        app.router.add_get("/events", self._watch)
        self._served = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._served.setup()
        site = web.TCPSite(self._served, HOST, port)
        try:
            await site.start()
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else error.strerror  # asyncio says it in many words
            raise LanewiseError(f"port {port} of {HOST} cannot be served: {reason}; choose another") from None
        self._port = self._served.addresses[0][1]
        self._offer()

    async def close(self) -> None:
        """Stop serving; viewers are told to go."""
        for viewer in list(self.screen.viewers):
            await viewer.socket.close()
        if self._served is not None:
            await self._served.cleanup()

    def _offer(self) -> None:
        self._token = secrets.token_urlsafe(24)
        self._on_address(f"http://{HOST}:{self._port}/?token={self._token}")

    def _take_tiles(self, numbers: Any, pixels: Any) -> None:
        """On the desktop's thread: hand over to the loop, and go on."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.screen.update, numbers, pixels)

    @web.middleware
    async def _guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        names = {f"{HOST}:{self._port}", f"localhost:{self._port}"}
        origin = request.headers.get("Origin")
        known = self._session_of(request) in self._sessions
        if request.headers.get("Host") not in names:
            raise web.HTTPForbidden(text="this desktop is only for this machine")
        if origin is not None and origin not in {f"http://{name}" for name in names}:
            raise web.HTTPForbidden(text="this desktop is not for pages of other sites")
        if request.path != "/" and not known:
            raise web.HTTPForbidden(text="open the address that `lanewise desktop` printed")
        return await handler(request)  # type: ignore[no-any-return]

    @property
    def _cookie(self) -> str:
        """Cookies are for all ports of a host; by this name the pages of several desktops leave each other's alone."""
        return f"{COOKIE}_{self._port}"

    def _session_of(self, request: web.Request) -> str | None:
        return request.cookies.get(self._cookie)

    async def _enter(self, request: web.Request) -> web.StreamResponse:
        token = request.query.get("token", "")
        if secrets.compare_digest(token.encode(), self._token.encode()):
            session = secrets.token_urlsafe(24)
            self._sessions.add(session)
            answer = web.FileResponse(FILES / "page.html", headers=HEADERS)
            answer.set_cookie(self._cookie, session, httponly=True, samesite="Strict")
            self._offer()
            return answer
        if self._session_of(request) not in self._sessions:
            raise web.HTTPForbidden(
                text="this address was used already, or lacks its token: `lanewise desktop` has printed one that works"
            )
        return web.FileResponse(FILES / "page.html", headers=HEADERS)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return web.FileResponse(FILES / request.path.removeprefix("/"), headers=HEADERS)

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Origin") is None:
            raise web.HTTPForbidden(text="a WebSocket says where its page is from")
        socket = web.WebSocketResponse(max_msg_size=LONGEST_MESSAGE, heartbeat=20.0)
        await socket.prepare(request)
        desktop = self.runner.desktop
        await socket.send_json({"width": desktop.width, "height": desktop.height, "tile": limits.TILE})
        viewer = Viewer(self.screen, socket)
        self.screen.viewers.add(viewer)
        self.runner.watch(len(self.screen.viewers))
        sending = asyncio.create_task(viewer.send())
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    with contextlib.suppress(LanewiseError):  # it makes no sense, or nothing is there to hear it
                        await self._hear(viewer, message.data)
        finally:
            sending.cancel()
            if viewer.holds:  # or the next viewer's pointer, which nobody presses, would drag what this one held
                with contextlib.suppress(LanewiseError):  # there are no frames any more
                    self.runner.send(RELEASE)
            self.screen.viewers.discard(viewer)
            self.runner.watch(len(self.screen.viewers))
        return socket

    async def _hear(self, viewer: Viewer, data: str) -> None:
        """Do what a message says; what makes no sense is refused or left out: whatever is sent, it ends nothing."""
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            return
        if not isinstance(event, dict):
            return
        kind, typed = event.get("event_type"), event.get("data", "")
        if not isinstance(typed, str):
            return
        if kind == "taken":
            viewer.taken.set()
        elif kind == "copy":
            await self._tell_clipboard(viewer)
        elif kind == "paste":
            await self._between_frames(lambda: self._paste(typed))
        elif len(typed) <= 1:  # a key types one character; a text is pasted
            self.runner.send(event)
            if kind in (PRESSES, RELEASES) and event["button"] == 1:
                viewer.holds = kind == PRESSES

    async def _between_frames(self, work: Callable[[], Found]) -> Found:
        """Have the desktop's thread do something and wait for it: so a viewer has one thing done at a time."""
        done, do = promised(work)  # which is not done if the viewer has gone
        self.runner.call(do)
        return await asyncio.wrap_future(done)

    def _paste(self, text: str) -> None:
        """On the desktop's thread: what the person's clipboard has goes on the desktop's, then Ctrl+V is typed."""
        self.runner.desktop.clipboard = text
        self.runner.send({"event_type": "key_down", "key": "v", "modifiers": ["Control"]})

    async def _tell_clipboard(self, viewer: Viewer) -> None:
        """Send what was copied last to a viewer that asks for it, which has typed Ctrl+C just before."""
        before = await self._between_frames(lambda: self.runner.desktop.last)  # the frame that follows takes that key
        while await self._between_frames(lambda: self.runner.desktop.last) is before:
            await asyncio.sleep(A_MOMENT)
        desktop = self.runner.desktop
        copies, text = await self._between_frames(lambda: (desktop.copies, desktop.clipboard))
        if copies != self._copies:  # else that copied nothing, and the person keeps what they have
            self._copies = copies
            await viewer.socket.send_json({COPIED: text})
