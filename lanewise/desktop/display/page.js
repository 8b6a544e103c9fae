// Shows a desktop: draws the tiles that come over the socket, and sends what pointer and keyboard do, in the vocabulary
// of rendercanvas. One message of tiles is taken at a time; the answer "taken" asks for the next.
"use strict";

const canvas = document.getElementById("screen");
// Has the focus and is not seen: only into such an element input methods, dead keys and keyboards on the screen write.
const keys = document.getElementById("keys");
const state = document.getElementById("state");
const context = canvas.getContext("2d", { alpha: false });
const socket = new WebSocket(`ws://${location.host}/events`);
const HEADER = 8;
const ENDED = 1000; // codes of a socket that was closed on purpose
const GOING_AWAY = 1001;
history.replaceState(null, "", "/"); // the token was used; it need not stay in the address bar
let tile = 32;
let across = 0;

socket.binaryType = "arraybuffer";
socket.onclose = (event) => {
  const ended = event.code === ENDED || event.code === GOING_AWAY;
  state.textContent = ended ? "the desktop has ended" : "the connection is lost; load the page again to see the desktop";
};
socket.onmessage = async (message) => {
  if (typeof message.data === "string") {
    const said = JSON.parse(message.data);
    if (said.copied !== undefined) {
      navigator.clipboard?.writeText(said.copied).catch(() => {});
      return;
    }
    canvas.width = said.width;
    canvas.height = said.height;
    tile = said.tile;
    across = Math.ceil(said.width / tile);
    state.textContent = "waiting for the first frame: what draws it is compiled once, then kept";
    keys.focus();
    return;
  }
  await draw(message.data);
  state.textContent = "";
  send({ event_type: "taken" });
};

async function draw(buffer) {
  const count = new DataView(buffer).getUint32(4, true);
  const numbers = new Uint16Array(buffer, HEADER, count);
  const packed = new Blob([new Uint8Array(buffer, HEADER + 2 * count)]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
  const pixels = new Uint8ClampedArray(await new Response(stream).arrayBuffer());
  const size = tile * tile * 4;
  for (let k = 0; k < count; k++) {
    const image = new ImageData(pixels.subarray(k * size, (k + 1) * size), tile, tile);
    context.putImageData(image, (numbers[k] % across) * tile, Math.floor(numbers[k] / across) * tile);
  }
  canvas.dataset.messages = Number(canvas.dataset.messages || 0) + 1;
}

function send(event) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(event));
}

// AltGr chooses characters; some systems tell of it as Control with Alt.
const choosesCharacter = (event) => event.getModifierState("AltGraph");

function modifiers(event) {
  const chooses = choosesCharacter(event);
  const names = {
    Shift: event.shiftKey, Control: event.ctrlKey && !chooses, Alt: event.altKey && !chooses, Meta: event.metaKey,
  };
  return Object.keys(names).filter((name) => names[name]);
}

function pointer(kind, event, more) {
  const box = canvas.getBoundingClientRect();
  const x = (event.clientX - box.left) * canvas.width / box.width;
  const y = (event.clientY - box.top) * canvas.height / box.height;
  send({ event_type: kind, x, y, modifiers: modifiers(event), ...more });
}

const BUTTONS = [1, 3, 2]; // the browser's left, middle and right in the numbers of rendercanvas
canvas.addEventListener("pointermove", (event) => pointer("pointer_move", event));
canvas.addEventListener("pointerdown", (event) => {
  keys.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
  pointer("pointer_down", event, { button: BUTTONS[event.button] ?? 0 });
});
canvas.addEventListener("pointerup", (event) => pointer("pointer_up", event, { button: BUTTONS[event.button] ?? 0 }));
// A press that the browser takes away, as for a gesture of its own, is released where it is no click.
canvas.addEventListener("pointercancel", () => send({ event_type: "pointer_up", x: -1, y: -1, button: 1 }));
canvas.addEventListener("pointerleave", (event) => pointer("pointer_leave", event));
canvas.addEventListener("mousedown", (event) => event.preventDefault()); // or the focus would be nowhere
canvas.addEventListener("contextmenu", (event) => event.preventDefault());
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 30 : 1;
  pointer("wheel", event, { dx: event.deltaX * lines, dy: event.deltaY * lines });
}, { passive: false });

const ALT_TYPES = navigator.platform.startsWith("Mac"); // elsewhere letters with Alt are for menus

// The key of a command: where the keyboard's layout has letters of another script, the Latin one in its place.
function commandKey(event) {
  if (event.key.length > 1) return event.key;
  const other = event.key > "~" && /^Key[A-Z]$/.test(event.code);
  return (other ? event.code.slice("Key".length) : event.key).toLowerCase();
}

// A key that is part of a text to come, which is told of when it is whole.
const composes = (event) => event.isComposing || ["Dead", "Process", "Unidentified"].includes(event.key);

function typed() {
  for (const character of keys.value) {
    if (character === "\n") send({ event_type: "key_down", key: "Enter", modifiers: [] });
    else send({ event_type: "char", data: character, modifiers: [] });
  }
  keys.value = "";
}

keys.addEventListener("input", (event) => {
  if (event.isComposing) return;
  if (event.inputType.startsWith("insert")) typed();
  else keys.value = ""; // as an undo, which would bring back what was sent
});
keys.addEventListener("compositionend", typed);
keys.addEventListener("keydown", (event) => {
  if (composes(event)) return;
  const command = (event.ctrlKey || event.metaKey) && !choosesCharacter(event);
  const ofMenu = event.altKey && !choosesCharacter(event) && !ALT_TYPES;
  const key = command ? commandKey(event) : event.key;
  if (command && key === "v") return; // the paste event brings the text
  if (key.length === 1 && (command ? !"acx".includes(key) : ofMenu)) return; // the browser's own
  send({ event_type: "key_down", key, modifiers: modifiers(event) });
  if (command && "cx".includes(key)) send({ event_type: "copy" });
  if (key.length === 1 && !command) send({ event_type: "char", data: key, modifiers: modifiers(event) });
  if (!command && !/^F\d+$/.test(key)) event.preventDefault();
});
keys.addEventListener("keyup", (event) => send({ event_type: "key_up", key: event.key, modifiers: modifiers(event) }));
document.addEventListener("paste", (event) => {
  send({ event_type: "paste", data: event.clipboardData.getData("text/plain").slice(0, 4096) });
  event.preventDefault();
});
