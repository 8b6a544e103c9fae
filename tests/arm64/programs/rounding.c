/* Rounding modes and flags of floating point, as C has them. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#pragma STDC FENV_ACCESS ON

static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static const char *const names[] = {"nearest", "up", "down", "zero"};

static void flags(const char *after)
{
    int found = fetestexcept(FE_ALL_EXCEPT);
    printf("  %s:%s%s%s%s%s\n", after, found & FE_INVALID ? " invalid" : "", found & FE_DIVBYZERO ? " by zero" : "",
           found & FE_OVERFLOW ? " overflow" : "", found & FE_UNDERFLOW ? " underflow" : "",
           found & FE_INEXACT ? " inexact" : "");
    feclearexcept(FE_ALL_EXCEPT);
}

int main(int argc, char **argv)
{
    volatile double x = argc > 1 ? strtod(argv[1], 0) : 1.0, three = 3, zero = 0, tiny = 0x1p-1022, huge = 0x1.fp1023, made;
    volatile float narrow;
    volatile long whole;
    for (int at = 0; at < 4; at++) {
        feclearexcept(FE_ALL_EXCEPT);
        printf("%s: %d\n", names[at], fesetround(modes[at]));
        printf("  %d\n", fegetround() == modes[at]);
        made = x / three, printf("%a", made), flags("quotient");
        made = x + x, printf("%a", made), flags("sum");
        made = x + 0x1p-80, printf("%a", made), flags("sum of unlike ones");
        made = fma(x, x, -three), printf("%a", made), flags("fused");
        made = sqrt(x), printf("%a", made), flags("root");
        made = x / zero, printf("%a", made), flags("by zero");
        made = zero / zero, printf("%d", isnan(made)), flags("nothing");
        made = tiny * x / three, printf("%a", made), flags("small");
        made = -huge * 4, printf("%a", made), flags("large");
        narrow = x, printf("%a", narrow), flags("narrow");
        narrow = huge, printf("%a", narrow), flags("too large");
        whole = lrint(x), printf("%ld", whole), flags("lrint");
        made = rint(-x), printf("%a", made), flags("rint");
        made = nearbyint(x), printf("%a", made), flags("nearbyint");
        made = 0x7fffffffffffffff - (long)x, printf("%a", made), flags("from integer");
        printf("%.3f %.1f %g %a\n", x, x, strtod("0.1", 0), strtod("1e-310", 0));
        feclearexcept(FE_ALL_EXCEPT);
        made = exp(x) + sin(x) + log(fabs(x)), printf("%a\n", made);
    }
    feraiseexcept(FE_OVERFLOW | FE_INVALID), flags("raised");
    fenv_t kept;
    feholdexcept(&kept);
    made = x / three, feupdateenv(&kept), flags("updated");
    return 0;
}
