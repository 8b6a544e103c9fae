"""Which placement a program gets: the usual one, the best that was ever measured for it, or one that is being tried.

Trials are real work: some lanes of a run live elsewhere, and what they return counts. A trial is made when there is
enough to spend: a few percent of the time that runs of the program have taken, and of what the run at hand will take,
less what earlier trials lost. What is known is kept with the compiled code, as ratios to the usual placement, measured
within one run each, since runs differ in what their lanes have to do. Calls of a function that fill the GPU about once
are a trial as a whole, between two of the same size. As such calls may be long, placements of few lanes at once are
looked at by a small part of a call before: what shows itself faster there is a trial that costs little.

Lanes that are too few for a trial are too few to keep a GPU busy as well. So nothing is lost when each warp has fewer
of them, and what they do apart is done side by side: they have the best placement known, spread over more warps.

That a placement is faster is believed only when the lanes behind it, in the best one known, say so as well: one lane
that takes long makes all that is compared with it look fast.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lanewise.compiler import Cache, default_cache
from lanewise.errors import ArgumentError
from lanewise.settings import MAX_THREADS
from lanewise.version import __version__
from lanewise.wasm.candidates import USUAL, Reach, candidates, variants
from lanewise.wasm.placement import Placement, parse_placement

_SHARE = 0.03
"""How much of the time of runs may go into trials."""
_FEARED = 3.0
"""How many times as long as in the best placement known a trial is expected to take."""
_FEARED_UNROLLED = 1.5
"""The same where loops are unrolled, by which twelve of fifteen programs were fastest (benchmarks/README.md); unless
that was slower in another layout."""
_FEARED_SEEN = 1.5
"""How many times as long as a part of a call has shown."""
_BETTER = 1.03
"""How much faster a placement must be to be taken instead of the usual one."""
_CODE_PER_SECOND = 20_000
"""Bytes of a guest's code that are compiled in a second."""
_UNROLLING = 5
"""How many times as long it takes to make code with loops unrolled."""
_ASIDE = 0.25
"""How long runs must have taken before other code is made beside them, as a part of what it may take."""
_PATIENCE = 10.0
"""Seconds of calls in which all that may be spent is saved for unrolled code, if that is enough."""
_WORTH_SAVING = 0.01
"""Seconds that the purse must have grown by while calls go on; when a run is over all counts."""
_SPLIT, _LEAST = 32, 3
"""A run is begun with a part of its lanes, from which the rest learns, if it fills the GPU so many times; or as many as
the second, if a trial can be paid as far as is known: with the first lanes, the trial, and those behind it."""
_FULL = 0.75
"""How much of the GPU a call must fill to be a trial as a whole: what is best for fewer lanes is not for more."""
_STEADY = 1.25
"""How many times as long as the call ahead of such a trial the one behind it may take for both to say something."""
_FOLLOWING = 2
"""Lanes that each slot has, one after the other, where a placement is looked at by a part of a call."""
_GLANCE = 0.25
"""How much of a call that part may be."""


def layout_seconds(code_bytes: int) -> float:
    """How long it may take to make other code for a program of a size, for another layout or with fewer registers."""
    return 1.0 + code_bytes / _CODE_PER_SECOND


@dataclass(frozen=True)
class Turn:
    """Lanes that run in one placement."""

    placement: Placement
    lanes: int
    trial: bool = False
    glance: bool = False
    """Whether it is a small part of a call, which says what a trial by a whole one would cost."""
    most: float = field(default=math.inf, compare=False)
    """Seconds after which a trial is better ended, if its lanes can run once more."""


@dataclass
class Known:
    """What is remembered of a program on a GPU."""

    ratios: dict[Placement, float] = field(default_factory=dict)
    """How fast it is in placements that were tried, as multiples of the usual one."""
    purse: float = 0.0
    """Seconds that may be lost by trials."""
    pace: float | None = None
    """Seconds that each lane took when lanes ran last. Others may have other work: it says what a trial may cost."""

    def best(self) -> Placement:
        """The fastest of all."""
        place, ratio = max(tuple(self.ratios.items()), key=lambda one: one[1], default=(USUAL, 1.0))
        return place if ratio > _BETTER else USUAL

    def best_plain(self) -> Placement:
        """The fastest of those that are no variants."""
        best = self.best()
        return replace(best, registers=None, group=USUAL.group)

    def untried(self, reach: Reach) -> list[Placement]:
        """What is left to try: variants of the best when all others are known."""
        found = candidates(reach.threads)
        if all(place.unrolled for place in found if self._is_new(place, reach)):  # which may always be too dear
            best = self.best_plain()
            found += [place for place in (best, *variants(best, reach.threads)) if place not in found]
        return [place for place in found if self._is_new(place, reach)]

    def _is_new(self, place: Placement, reach: Reach) -> bool:
        return place != USUAL and place not in self.ratios and reach.has(place)

    def ratio(self, place: Placement) -> float:
        """How fast it is in a placement, 1 for the usual."""
        return self.ratios.get(place, 1.0)

    def as_text(self) -> str:
        """For `read_known`."""
        ratios = {str(place): ratio for place, ratio in self.ratios.items()}
        return json.dumps({"purse": self.purse, "pace": self.pace, "ratios": ratios})


def read_known(text: str) -> Known:
    """What `as_text` gave; nothing is known where it makes no sense."""
    try:
        found = json.loads(text)
        ratios = {parse_placement(place): float(ratio) for place, ratio in found["ratios"].items()}
        purse, pace = float(found["purse"]), float(found["pace"] or 0.0)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, ArgumentError):
        return Known()
    makes_sense = math.isfinite(purse) and all(math.isfinite(one) and one >= 0 for one in (pace, *ratios.values()))
    return Known(ratios, purse, pace or None) if makes_sense else Known()


@dataclass(frozen=True)
class _Doubt:
    """A trial that was faster, and that nobody believes yet."""

    turn: Turn
    pace: float
    """Seconds that each of its lanes took."""
    before: float
    """The same in the best placement known, ahead of it."""
    whole: bool
    """Whether it was a whole call, and other calls are what it is compared with."""


class Tuner:
    """Chooses for one program on one GPU; `turn` and `took` take turns."""

    def __init__(
        self,
        program: tuple[str | bytes, ...],
        device: str,
        reach: Reach,
        *,
        search: bool = False,
        layout_seconds: float = 1.0,
    ) -> None:
        """`search` tries all there is, whatever it costs; `layout_seconds` is what other code may take."""
        self._key = Cache.key_of("placement", __version__, device, *program)
        self._reach = reach
        self._search = search
        self._layout_seconds = layout_seconds
        self.known = self._stored() or Known()
        self._news: dict[Placement, float] = {}
        """What was learned since it was last saved."""
        self._saved_purse = self.known.purse
        self._made = {_code_of(self.known.best())}
        self._ran = 0.0
        """Seconds that runs have taken in this process."""
        self._asked_after = 0.0
        """What runs had taken when code was made beside them last."""
        self._pace: float | None = None
        self._doubt: _Doubt | None = None
        self._ended: tuple[Turn, float] | None = None
        """A whole call that was a trial and was ended, with what each lane took at least; its lanes run once more."""
        self._call: tuple[int, float] | None = None
        """The last call, if it was in one piece and in the best placement known: how many lanes, and what each took."""
        self._tried: set[Placement] = set()
        self._glances: dict[Placement, float] = {}
        """How fast placements looked by a part of a call, as multiples of the usual one."""
        self._lanes = MAX_THREADS
        self._within = math.inf

    def begin(self, lanes: int) -> None:
        """A run of so many lanes begins: what others took says nothing of it, for their lanes had other work."""
        self._lanes = lanes
        self._pace = self._ended = None
        if self._doubt is not None and not self._doubt.whole:
            self._doubt = None

    def limit(self, room: int) -> None:
        """There is memory for so many lanes at once."""
        self._reach = replace(self._reach, room=room)

    def best(self, lanes: int) -> Placement:
        """The best placement known, for a run of so many lanes; when all is to be tried it is as it is measured."""
        best = self.known.best()
        return best if self._search else self._reach.spread(best, lanes)

    @property
    def here(self) -> Placement:
        """The same for the run that was begun last."""
        return self.best(self._lanes)

    def check_search(self) -> None:
        """Raise if the run that was begun is to try what there is, and has lanes for nothing of it."""
        usual = self._reach.slots(self.known.best())
        least = min((self._reach.slots(place) for place in self.known.untried(self._reach)), default=0)
        if self._search and least and self._lanes < usual + least:
            raise ArgumentError(
                f"a search for placements needs {usual + least:,} lanes here, as many as run at once and those of a "
                f"trial, and this run has {self._lanes:,}; settle one, such as flat/8/all, or leave it out"
            )

    @property
    def has_pace(self) -> bool:
        """Whether it is known how fast the lanes of this run are, as far as anybody doubts it."""
        return self._pace is not None and self._doubt is None

    def turn(self, left: int, *, trials: bool = True, within: float = math.inf) -> Turn:
        """Where the next of so many lanes live, and how many of them; without `trials` where it is known to be best.

        All of them have so many seconds, which no trial may take from them.
        """
        self._within = within
        best = self.best(self._lanes)
        slots = self._reach.slots(best, left)
        doubt = self._doubt
        if doubt is not None and (doubt.whole or left >= doubt.turn.lanes // 2):
            return Turn(best, left if doubt.whole else min(left, slots))
        if self._ended is not None:
            return Turn(best, left)
        self._doubt = None  # so few lanes say nothing
        if self._pace is None:
            place = self._whole_trial(left) if trials else None
            if place is not None:
                return self._trial(place, left)
            if trials and (place := self._to_glance_at(left)) is not None:
                return self._trial(place, self._part(place), glance=True)
            enough = self._search or left >= _SPLIT * slots or (left >= _LEAST * slots and self._expects_trial(left))
            return Turn(best, min(left, slots) if enough else left)
        place = self._part_trial(left, self._pace) if trials else None
        return Turn(best, left) if place is None else self._trial(place, self._reach.slots(place, left))

    def _trial(self, place: Placement, lanes: int, *, glance: bool = False) -> Turn:
        return Turn(place, lanes, trial=True, glance=glance, most=_FEARED * lanes * self._before)

    @property
    def _before(self) -> float:
        """Seconds that each lane took ahead of a trial."""
        found = self._call[1] if self._pace is None and self._call is not None else self._pace
        assert found is not None
        return found

    def _whole_trial(self, left: int) -> Placement | None:
        """What a whole call may be a trial of: it fills the GPU, and one of the same size was just ahead of it."""
        pace = self._pace_ahead(left)
        if pace is None:
            return None
        whole = left < _LEAST * self._reach.slots(self.known.best(), left)
        return self._first(
            lambda place: (whole or not self._has_part(place, left)) and self._affords(place, left, left, pace)
        )

    def _to_glance_at(self, left: int) -> Placement | None:
        """What is worth a look by a part of such a call: few lanes are at once, so that the part is like a whole."""
        pace = self._pace_ahead(left)
        if pace is None or self._saves(left, pace):
            return None

        def fits(place: Placement) -> bool:
            part = self._part(place)
            return place not in self._glances and part <= _GLANCE * left and self._affords(place, part, left, pace)

        return self._first(fits)

    def _saves(self, left: int, pace: float) -> bool:
        """Whether a whole call in unrolled code, which is most promising, will soon be paid: looks may cost far more
        than is feared."""
        first = self._first(lambda place: True)
        if first is None or not first.unrolled or self._ran >= _PATIENCE:
            return False
        return (self._feared(first) - 1) * left * pace <= _SHARE * _PATIENCE

    def _part(self, place: Placement) -> int:
        return _FOLLOWING * self._reach.slots(place)

    def _pace_ahead(self, left: int) -> float | None:
        """What each lane took in the call ahead, if that had as many as this one, which fills the GPU."""
        if self._call is None or self._call[0] != left or left < _FULL * self._reach.slots(USUAL):
            return None
        return self._call[1]

    def _part_trial(self, left: int, pace: float) -> Placement | None:
        """What some of the lanes may be a trial of, so that others are left to confirm it."""
        slots = functools.partial(self._reach.slots, lanes=left)
        return self._first(lambda place: self._has_part(place, left) and self._affords(place, slots(place), left, pace))

    def _has_part(self, place: Placement, left: int) -> bool:
        """Whether so many lanes are enough for a trial and, unless all is to be tried, for some to confirm it."""
        behind = 0 if self._search else self._reach.slots(self.known.best(), left) // 2
        return self._reach.slots(place, left) + behind <= left

    def _first(self, fits: Callable[[Placement], bool]) -> Placement | None:
        return next((place for place in self.known.untried(self._reach) if fits(place)), None)

    def _expects_trial(self, left: int) -> bool:
        """Whether one can be paid, if lanes are as fast as they were when others ran."""
        rest = left - self._reach.slots(self.known.best(), left)
        return self.known.pace is not None and self._part_trial(rest, self.known.pace) is not None

    def _affords(self, place: Placement, lanes: int, left: int, pace: float) -> bool:
        feared = self._feared(place)
        cost = max(0.0, feared - 1) * lanes * pace
        if _code_of(place) not in self._made:
            cost += self._layout_seconds * (_UNROLLING if place.unrolled else 1)
        in_time = (max(feared, _FEARED) * lanes + left) * pace <= self._within  # ended after that, and run once more
        return in_time and (self._search or cost <= self.known.purse + _SHARE * left * pace)

    def _feared(self, place: Placement) -> float:
        """How many times as long as in the best placement known a trial of this one may take."""
        seen = self._glances.get(place)
        if seen is not None:
            return _FEARED_SEEN * self.known.ratio(self.known.best()) / seen
        slower = any(ratio < 1 for other, ratio in self.known.ratios.items() if other.unrolled)
        return _FEARED if slower or not place.unrolled else _FEARED_UNROLLED

    def took(self, turn: Turn, seconds: float, preparing: float = 0.0) -> None:
        """How long the lanes of a turn took, and how long it took before to make code for them."""
        self._made.add(_code_of(turn.placement))
        self._ran += seconds
        pace = seconds / turn.lanes
        if turn.trial:
            self._tried_out(turn, pace, preparing)
            return
        self.known.purse += _SHARE * seconds
        whole, doubt = self._pace is None, self._doubt
        self._pace = self.known.pace = pace
        self._call = (turn.lanes, pace) if whole else None
        self._doubt = None
        if doubt is not None and whole == doubt.whole:
            self._settle(doubt, turn.lanes, pace)
        if self._ended is not None and pace < self._ended[1]:
            self.learn(self._ended[0].placement, pace / self._ended[1] * self.known.ratio(self.known.best()))
        self._ended = None

    def _tried_out(self, turn: Turn, pace: float, preparing: float) -> None:
        self._tried.add(turn.placement)
        whole, before = self._pace is None, self._before
        self.known.purse -= max(0.0, pace - before) * turn.lanes + preparing
        if turn.glance:
            seen = self._glances[turn.placement] = before / pace * self.known.ratio(self.known.best())
            if pace > _STEADY * before:  # lanes differ, but hardly so much
                self.learn(turn.placement, seen)
        elif whole or pace < before:
            self._doubt = _Doubt(turn, pace, before, whole)
        else:
            self.learn(turn.placement, before / pace * self.known.ratio(self.known.best()))

    def _settle(self, doubt: _Doubt, lanes: int, behind: float) -> None:
        """Believe a trial by the worse of what it is compared with: lanes ahead of it, and lanes behind."""
        if doubt.whole:
            steady = max(doubt.before, behind) <= _STEADY * min(doubt.before, behind)
            if lanes != doubt.turn.lanes or not steady:
                return
        place = doubt.turn.placement
        self.learn(place, min(doubt.before, behind) / doubt.pace * self.known.ratio(self.known.best()))
        if self.known.best() == place:
            self._pace = self.known.pace = doubt.pace
            self._call = (lanes, doubt.pace) if doubt.whole else None

    def lost(self, turn: Turn, preparing: float) -> None:
        """Nobody knows how long the lanes of a turn took; a trial has cost what was feared, and may come again."""
        self._made.add(_code_of(turn.placement))
        self._doubt = None
        if turn.trial:
            assert self._pace is not None
            self.known.purse -= (_FEARED - 1) * turn.lanes * self._pace + preparing

    def ended(self, turn: Turn, seconds: float, preparing: float) -> None:
        """A trial took longer than all that was feared, so that it was ended: its lanes are to run again elsewhere."""
        self._made.add(_code_of(turn.placement))
        self._tried.add(turn.placement)
        self.known.purse -= seconds + preparing
        pace = seconds / turn.lanes
        if self._pace is None and not turn.glance:  # calls differ: the same lanes say more than those ahead of them
            self._ended = turn, pace
        else:
            self.learn(turn.placement, self._before / pace * self.known.ratio(self.known.best()))

    def to_make(self) -> list[Placement]:
        """What code is worth making beside runs, if these have taken a while in this process."""
        if self._ran - self._asked_after < _ASIDE * self._layout_seconds:
            return []
        self._asked_after = self._ran
        return [place for place in self.known.untried(self._reach) if _code_of(place) not in self._made]

    def made(self, places: Sequence[Placement]) -> None:
        """Code for these is there, as far as there can be any."""
        self._made.update(map(_code_of, places))

    def failed(self, turn: Turn, preparing: float) -> None:
        """There is no code for a trial: it has cost what it took to find that out, and does not come again."""
        self.known.purse -= preparing
        self.learn(turn.placement, 0.0)

    def ran(self, seconds: float) -> None:
        """Lanes ran for a time that says nothing of how fast they were."""
        self.known.purse += _SHARE * seconds
        self._ran += seconds

    def learn(self, place: Placement, ratio: float) -> None:
        """Note how fast the program is in a placement, as a multiple of the usual one."""
        if place != USUAL and math.isfinite(ratio):
            self.known.ratios[place] = self._news[place] = ratio

    def save(self, *, over: bool = False) -> None:
        """Remember for later runs, if there is anything new that is worth a file; if a run is `over`, all that is."""
        grown = abs(self.known.purse - self._saved_purse) > (0.0 if over else _WORTH_SAVING)
        if grown or self._news:
            self._take_in_others()
            default_cache().put(self._key, self.known.as_text().encode())
            self._news, self._saved_purse = {}, self.known.purse

    def _stored(self) -> Known | None:
        stored = default_cache().get(self._key)
        return None if stored is None else read_known(stored.decode(errors="replace"))

    def _take_in_others(self) -> None:
        """Add what other processes have saved since this one last read or wrote."""
        others, best = self._stored(), self.known.best()
        if others is None:
            return
        self.known.ratios = self.known.ratios | others.ratios | self._news
        self.known.purse += others.purse - self._saved_purse
        if self.known.best() != best:  # which measured calls were compared with
            self._call = self._doubt = None

    def explain(self) -> list[str]:
        """Lines that say which placement was chosen and why."""
        known, best = self.known, self.known.best()
        if best != USUAL:
            why = f"measured {known.ratio(best):.2f}x as fast as the usual {USUAL}"
        elif known.ratios:
            why = "the usual one; none that was tried is faster"
        else:
            why = "the usual one; no other has been tried yet"
        lines = [f"placement: {best}, {why}"]
        if self.here != best:
            lines.append(f"  {self.here} for {self._lanes:,} lanes: so few are spread over more warps")
        for place, ratio in sorted(known.ratios.items(), key=lambda one: -one[1]):
            lines.append(f"  {ratio:5.2f}x {place}{' (tried in this run)' if place in self._tried else ''}")
        untried = [str(place) for place in known.untried(self._reach)]
        if untried:
            lines.append(f"  not tried: {', '.join(untried)}")
            lines.append(f"  {known.purse:.3g} s may be spent on trials; each run adds {_SHARE:.0%} of its time")
        return lines


def _code_of(place: Placement) -> tuple[str, int | None, bool]:
    """What decides the code of a placement."""
    return place.layout, place.registers, place.unrolled
