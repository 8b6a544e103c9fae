// Reads an instruction from standard input over the first of `work`, then calls that ten million times.
// Ends with 0 if each call gave 2, as the instruction that was read has it; the one in the file gives 1.
.section .text, "awx"
.globl _start
_start:
  mov x0, #0
  adr x1, work
  mov x2, #4
  mov x8, #63  // read
  svc #0
  dsb ish
  isb
  mov x19, #0
  ldr x20, =10000000
1:
  bl work
  add x19, x19, x0
  subs x20, x20, #1
  b.ne 1b
  ldr x21, =20000000
  cmp x19, x21
  cset x0, ne
  mov x8, #93  // exit
  svc #0
.balign 64
work:
  mov x0, #1
  ret
