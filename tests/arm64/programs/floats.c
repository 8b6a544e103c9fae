/* Numbers in words that people read, and back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    double x = argc > 1 ? strtod(argv[1], 0) : 1.0;
    printf("%f %e %g %a\n", x, x, x, x);
    printf("%.20g %10.3f|%-10.2e|\n", x / 3, x * 1e6, x);
    printf("%.15g %.15g %.15g %.15g\n", sin(x), exp(x), log(x), pow(x, 1.5));
    printf("%f %f %f\n", INFINITY, -INFINITY, NAN);
    printf("%Lf %.30Lg\n", (long double)x, (long double)x / 7);
    printf("%.10f\n", (double)strtof("3.14159274", 0));
    return 0;
}
