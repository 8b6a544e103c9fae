/* The functions of math.h, to the last bit: they are compiled into the program, so that every engine must agree. */

#include <float.h>
#include <math.h>
#include <stdio.h>

#define ONE(name) {#name, name}

static const struct {
    const char *name;
    double (*function)(double);
} functions[] = {ONE(sin),  ONE(cos),   ONE(tan),   ONE(asin),  ONE(acos),  ONE(atan),  ONE(sinh),  ONE(cosh),
                 ONE(tanh), ONE(exp),   ONE(exp2),  ONE(expm1), ONE(log),   ONE(log2),  ONE(log10), ONE(log1p),
                 ONE(sqrt), ONE(cbrt),  ONE(floor), ONE(ceil),  ONE(trunc), ONE(round), ONE(rint),  ONE(fabs),
                 ONE(erf),  ONE(tgamma)};

static const double values[] = {0.0,  -0.0, 0.5, -0.75, 1.0,      2.5,   -3.0,     0x1p-30, 100.25,
                                1e10, 700., -42.5, 1e-300, INFINITY, DBL_MAX, 3.5, -INFINITY};

int main(void) {
    for (unsigned f = 0; f < sizeof functions / sizeof *functions; f++) {
        printf("%s", functions[f].name);
        for (unsigned v = 0; v < sizeof values / sizeof *values; v++) {
            double result = functions[f].function(values[v]);
            if (isnan(result))
                printf(" nan");
            else
                printf(" %a", result);
        }
        putchar('\n');
    }
    double whole;
    int exponent;
    printf("%a %a %a %a\n", pow(2.5, 3.25), atan2(-1, -2), hypot(3e200, 4e200), fmod(-7.5, 2));
    printf("%a ", modf(-3.75, &whole));
    printf("%a %a ", whole, frexp(48.3, &exponent));
    printf("%d %a %a %a\n", exponent, ldexp(0.7, -1070), copysign(2, -0.0), nextafter(1, 2));
    printf("%ld %d %a %a\n", lround(-2.5), ilogb(1e-310), fma(3, 4, 5), remainder(10, 4));
    printf("%a %a %a\n", sinf(1.5f), powf(1.1f, 20), expf(-3.5f));
    printf("%.20g %.3f %g %d %d\n", 0.1, 2.0005, 1e-5, fpclassify(4e-320) == FP_SUBNORMAL, signbit(-0.0) != 0);
    return 0;
}
