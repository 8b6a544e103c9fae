/* A function that only a pointer leads to, and that takes a while. */
    .global _start
_start:
    ldr x9, =rounds
    blr x9
    hlt #0

    .type rounds, %function
rounds:
    mov x0, #50000
again:
    subs x0, x0, #1
    b.ne again
    ret
    .size rounds, . - rounds
