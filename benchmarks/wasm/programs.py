"""The guests: where each lies, how many rounds make a run of about 0.3 s, and what `run` must return.

Needs nothing but Python. The files are built by build.sh; all but `big` are kept with the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent
KEPT = ROOT / "tests" / "wasm" / "guests"
BUILT = ROOT / "out" / "wasm"
"""Where README.md has `big` built: it is too large to be kept."""

CASES = ((0, 1), (1, 1), (3, 1), (3, 7), (10, -5))
"""The rounds and seeds that every program has a checksum for; 1 is the seed of a module that has been given none."""


@dataclass(frozen=True)
class Program:
    """A module that exports `seed(i32)`, `run(i32) -> i64` (or f64) and its memory, and imports nothing."""

    name: str
    source: str
    rounds: int
    """What takes about 0.3 s under wasmtime on one core."""
    checksums: dict[tuple[int, int], int | float]
    """What `run` returns, by (rounds, seed)."""
    result: str = "i64"
    kept: bool = True

    @property
    def path(self) -> Path:
        """The module's file; that of a program that is not kept is there once it has been built."""
        return (KEPT if self.kept else BUILT) / f"{self.name}.wasm"


def _program(name: str, source: str, rounds: int, *checksums: int | float, kept: bool = True) -> Program:
    result = "f64" if isinstance(checksums[0], float) else "i64"
    return Program(name, source, rounds, dict(zip(CASES, checksums, strict=True)), result, kept)


# fmt: off
TABLE = (
    _program("blur", "blur.c", 3_900,
             0, -6097740356896279762, 1061037660662659734, -6599214421667961742, -6383835248262136364),
    _program("dispatch", "dispatch.c", 32_000,
             0, 3971683342466484483, -8529367575201135571, -4531328949184250237, 4055078126039997173),
    _program("editdist", "editdist.c", 5_300,
             0, 1517020112456181025, -2016747036203056400, -4753271740977254724, 1902394966805991937),
    _program("fib", "fib.c", 47_000,
             0, 13523998641736192, -5414511186834942644, -6657299213371445427, -1624274960422458528),
    _program("grow", "grow.c", 1_300,
             4294967295, -5407162685469025561, 5071181938790418025, -107036640603470954, -9213715923846834742),
    _program("heapsort", "heapsort.c", 1_900,
             0, -2202140898807213848, -2288524451141195541, 1897245110667429650, -6568792783208803695),
    _program("json", "json.c", 25_000,
             0, -8293233916243523058, -1693343005833615164, -2231298951150104675, 6677788992960746587),
    _program("lz", "lz.c", 8_100,
             0, -2631759269583585857, -195837698885771688, 2622521452356039329, -3691800666341526143),
    _program("mandelbrot", "mandelbrot.c", 1_100,
             0, -2725194543312174668, -7777147327033046231, -7119298622797196391, -7201960233617407665),
    _program("mix", "mix.c", 18_000,
             0, -4669395892517311350, -9066796088394343140, -3152195336725148592, -4303867752782906239),
    _program("nbody", "nbody.c", 3_300_000,
             -1.2555373694124354, -1.2555373730020687, -1.2555373803033214, -1.1659665875406342, -1.0923961835755767),
    _program("pbkdf2", "pbkdf2.c", 8_600,
             0, -1832528873216565524, -2463643631711508674, 3510878514670586919, 1214339542843420718),
    _program("phash", "phash.c", 23_000,
             0, 8981655420605541973, -879977517225951326, 6491656132123221273, 4728169016016456121),
    _program("pricing", "pricing.c", 3_600,
             0, 7847867116701240365, -940611300765820194, 1977044479136778898, 3698754435099419129),
    _program("regex", "regex.c", 4_600,
             0, -5277245827519423730, 4231121935257152160, 6629857739070363676, 8650993956969656956),
    _program("scrypt", "scrypt.c", 1_200,
             0, -1055890091114860773, 1835968604289420279, -4016669941702188559, -2512175126490484469),
    _program("sha256", "sha256.c", 58_000,
             0, 7429497091742420057, 7759151002686226373, 2275704353099801213, 7431800264044658618),
    _program("ledger", "ledger.rs", 1_200,
             0, -2269835220250771411, -491297673183002978, 7945232735099007028, 1445948266948517696),
    _program("big", "big.py", 40_000,
             0, -1396334504616430427, 1166353648209287461, -697000504883477641, 7311582112991438510, kept=False),
)
# fmt: on

PROGRAMS = {program.name: program for program in TABLE}
