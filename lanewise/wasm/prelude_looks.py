"""How a round of a loop looks whether its lane is to end, once enough rounds have gone by.

As a call it is little code, and rare. But the assembler of a GPU keeps what lives across a call in registers that calls
leave alone, of which there are few for the barriers at which lanes meet behind loops: of loops within loops it puts
the outer ones' barriers into memory, and lanes that wait at one that was brought back do so in a register that the
others use as well. Written out, a look is one block without a way that ends or comes back: the lane ends by an
instruction under a condition. And it reads the request in a way that is not volatile, or the assembler would take the
loop for one that waits for others, and have lanes give way to each other (YIELD) in every round.
"""

from __future__ import annotations

from lanewise.wasm import state, traps
from lanewise.wasm.build import Build
from lanewise.wasm.prelude_ranges import cell_at
from lanewise.wasm.prelude_tally import ALL_GIVEN, STEPS_LEFT, steps_less

_BEGIN_ANEW = "  store i32 0, ptr %rounds, align 4\n"
READ = 'call i32 asm sideeffect "ld.global.L1::no_allocate.u32 $0, [$1];", "=r,l"(ptr %stop_word)'
"""Reads a word that the host may have changed: it is in no first cache, as nothing there is read in another way."""
END_IF = (
    'call void asm sideeffect "{ .reg .pred p; setp.ne.s32 p, $0, 0; @p st.u64 [$1], $2; @p exit; }", '
    '"r,l,l,~{memory}"(i32 %ends, ptr %report, i64 %why)'
)
"""Tells why a lane ends, and ends it, if so."""


def looked_at(build: Build) -> str:
    """IR of a look, with the function's count of rounds, `%rounds`, and where in the module it is, `%place`."""
    tallies = build.meter == "tally"
    if not build.looks_written:
        if tallies:
            return f"{STEPS_LEFT}  call void @lw.look_counted(ptr %st, i32 %place, i32 %steps)\n{ALL_GIVEN}"
        return f"  call void @lw.look(ptr %st, i32 %place)\n{_BEGIN_ANEW}"
    asked = f"""{cell_at(build, state.STOP, "%stop_at", "%st")}  %stop_word = load ptr, ptr %stop_at, align 8
  %{"asked" if tallies else "ends"} = {READ}
{cell_at(build, state.TRAP_STATE, "%report_at", "%st")}  %report = load ptr, ptr %report_at, align 8
  %place_wide = zext i32 %place to i64
  %place_high = shl i64 %place_wide, 32
  %{"stopped" if tallies else "why"} = or i64 %place_high, {traps.INTERRUPTED}
"""
    if not tallies:
        return f"{asked}  {END_IF}\n{_BEGIN_ANEW}"
    return f"""{asked}{STEPS_LEFT}{steps_less(build)}  store i64 %left, ptr %left_at, align 8, !tbaa !2
  %over = icmp slt i64 %left, 0
  %ends = select i1 %over, i32 1, i32 %asked
  %why = select i1 %over, i64 {traps.RECOUNT}, i64 %stopped
  {END_IF}
{ALL_GIVEN}"""
