"""A small program for tests: what it does is its first argument. Written by hand, so that nothing has to be built."""

import wasmtime

TEXT = """(module
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 64) "\\n")
  (func $write (param $fd i32) (param $at i32) (param $size i32)
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (local.get $size))
    (drop (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 16))))
  (func $length (param $at i32) (result i32) (local $size i32)
    (loop $next
      (if (i32.load8_u (i32.add (local.get $at) (local.get $size)))
        (then (local.set $size (i32.add (local.get $size) (i32.const 1))) (br $next))))
    (local.get $size))
  (func $number (param $at i32) (result i32) (local $value i32)
    (loop $next
      (if (i32.load8_u (local.get $at))
        (then
          (local.set $value (i32.add (i32.mul (local.get $value) (i32.const 10))
            (i32.sub (i32.load8_u (local.get $at)) (i32.const 48))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $value))
  (func $copy (param $fd i32)
    (loop $next
      (i32.store (i32.const 0) (i32.const 4096))
      (i32.store (i32.const 4) (i32.const 4096))
      (drop (call $fd_read (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 16)))
      (if (i32.load (i32.const 16))
        (then (call $write (i32.const 1) (i32.const 4096) (i32.load (i32.const 16))) (br $next)))))
  (func $name (param $at i32) (result i32) (local $name i32)  ;; what is behind the last /
    (local.set $name (local.get $at))
    (loop $next
      (if (i32.load8_u (local.get $at))
        (then
          (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 47))
            (then (local.set $name (i32.add (local.get $at) (i32.const 1)))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $name))
  (func $show (param $at i32)
    (drop (call $open (i32.const 3) (i32.const 0) (call $name (local.get $at))
      (call $length (call $name (local.get $at))) (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0)
      (i32.const 20)))
    (call $copy (i32.load (i32.const 20))))
  (func (export "_start") (local $command i32) (local $value i32)
    (drop (call $sizes (i32.const 24) (i32.const 28)))
    (drop (call $args (i32.const 1024) (i32.const 2048)))
    (if (i32.lt_u (i32.load (i32.const 24)) (i32.const 2)) (then (return)))
    (local.set $command (i32.load8_u (i32.load (i32.const 1028))))
    (local.set $value (i32.load (i32.const 1032)))
    (if (i32.eq (local.get $command) (i32.const 115))  ;; say WORD, on a line
      (then
        (call $write (i32.const 1) (local.get $value) (call $length (local.get $value)))
        (call $write (i32.const 1) (i32.const 64) (i32.const 1))))
    (if (i32.eq (local.get $command) (i32.const 109))  ;; moan WORD, to the standard error, without a newline
      (then (call $write (i32.const 2) (local.get $value) (call $length (local.get $value)))))
    (if (i32.eq (local.get $command) (i32.const 99))  ;; copy: from standard input to output
      (then (call $copy (i32.const 0))))
    (if (i32.eq (local.get $command) (i32.const 102))  ;; file PATH: show it
      (then (call $show (local.get $value))))
    (if (i32.eq (local.get $command) (i32.const 120))  ;; x CODE: exit with it
      (then (call $exit (call $number (local.get $value)))))
    (if (i32.eq (local.get $command) (i32.const 111))  ;; odd NUMBER: say so, and trap if it is
      (then
        (call $write (i32.const 1) (local.get $value) (call $length (local.get $value)))
        (if (i32.and (call $number (local.get $value)) (i32.const 1)) (then unreachable))))
    (if (i32.eq (local.get $command) (i32.const 108))  ;; loop NUMBER: say it, and run for ever if it is odd
      (then
        (call $write (i32.const 1) (local.get $value) (call $length (local.get $value)))
        (loop $ever (br_if $ever (i32.and (call $number (local.get $value)) (i32.const 1))))))
    (if (i32.eq (local.get $command) (i32.const 116))  ;; talk: write for ever
      (then (loop $ever (call $write (i32.const 1) (i32.const 0) (i32.const 65536)) (br $ever))))))
"""


def small_guest() -> bytes:
    """The program as a module."""
    return bytes(wasmtime.wat2wasm(TEXT))
