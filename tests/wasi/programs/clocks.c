/* The clocks and sleeping. The last line depends on the time. */

#include <stdio.h>
#include <time.h>

static long long nanoseconds(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now)) return -1;
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void) {
    struct timespec resolution, pause = {0, 5000000};
    clock_getres(CLOCK_MONOTONIC, &resolution);
    printf("resolution: %d\n", resolution.tv_sec == 0 && resolution.tv_nsec > 0 && resolution.tv_nsec <= 1000000);
    long long start = nanoseconds(CLOCK_MONOTONIC), wall = nanoseconds(CLOCK_REALTIME);
    printf("nanosleep: %d\n", nanosleep(&pause, NULL));
    printf("clock_nanosleep: %d\n", clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL));
    long long slept = nanoseconds(CLOCK_MONOTONIC) - start;
    printf("slept: %d\n", slept >= 10000000 && slept < 10000000000);
    long long ahead = time(NULL) - wall / 1000000000;
    printf("time: %d\n", ahead >= 0 && ahead < 10);
    time_t day = 951827696;
    struct tm parts;
    char text[64];
    gmtime_r(&day, &parts);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %a %j", &parts);
    printf("%s %d\n", text, mktime(&parts) == day);
    struct timespec bad = {0, 2000000000};
    printf("a bad time: %d\n", nanosleep(&bad, NULL));
    printf("slept %lld us\n", slept / 1000);
    return 0;
}
