// Runs single parts of the media program for the tests. Input and output are plain text or plain samples.
//
//     checks escape PARENT FOLDER PORT <FILE     tries forbidden actions, prints the outcomes as JSON (escape.c)
//     checks timeline CLOCK_RESTARTS <LINES      prints at which time each span of sound is placed
//     checks edits INDEX_BYTES_MIN <FILE         prints 1 if FFmpeg need not apply the edit lists in full (edits.c)
//     checks mix <FLOATS                         mixes pairs of samples to one channel

#include "checks.h"
#include "media.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAIRS = 1024 };

void fail(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    _exit(3);
}

static void print_placement(bool is_set, Placement placement)
{
    if (is_set)
        printf("%.17g %.17g\n", placement.silence, placement.skip);
}

// Reads one command in each line. `span START LENGTH EXACT` adds a span of sound to the timeline (timeline.c). START is
// its timestamp, or `-` if it has none. START and LENGTH are in samples. EXACT is 1 or 0. If EXACT is 0, a small
// difference between START and the end of the sound so far is ignored. If EXACT is 1, a small difference is corrected
// too. `end` is the end of the file. `continue` makes the next span follow without a gap.
static int check_timeline(bool clock_restarts)
{
    Timeline timeline = {.clock_restarts = clock_restarts};
    Placement placement = {0};
    char line[256], start[64];
    while (fgets(line, sizeof line, stdin)) {
        Span span = {0};
        int is_exact = 0;
        if (sscanf(line, "span %63s %lf %d", start, &span.length, &is_exact) == 3) {
            span.has_start = strcmp(start, "-") != 0;
            span.start = span.has_start ? atof(start) : 0;
            print_placement(timeline_settle(&timeline, span, &placement), placement);
            print_placement(timeline_place(&timeline, span, is_exact, &placement), placement);
        } else if (strcmp(line, "continue\n") == 0) {
            timeline_continue(&timeline);
        } else {
            print_placement(timeline_settle(&timeline, span, &placement), placement);
        }
    }
    printf("position %.17g\n", timeline.position);
    return 0;
}

// Calls `mix_pair` with up to 1,024 pairs of samples at a time. The media program also calls it with about this many:
// the samples of one decoded frame.
static int check_mix(void)
{
    Mixer mixer = {0};
    float samples[2 * PAIRS];
    for (size_t count; (count = fread(samples, 2 * sizeof *samples, PAIRS, stdin)) > 0;) {
        mix_pair(&mixer, samples, (int64_t)count);
        fwrite(samples, sizeof *samples, count, stdout);
    }
    return 0;
}

int main(int count, char **texts)
{
    const char *check = count > 1 ? texts[1] : "";
    if (strcmp(check, "escape") == 0 && count == 5)
        return check_escape(atoi(texts[2]), texts[3], atoi(texts[4]));
    if (strcmp(check, "timeline") == 0 && count == 3)
        return check_timeline(atoi(texts[2]) != 0);
    if (strcmp(check, "edits") == 0 && count == 3)
        return printf("%d\n", edits_shift_only(atoll(texts[2]))) < 0;
    if (strcmp(check, "mix") == 0)
        return check_mix();
    fail("escape, timeline, edits or mix expected");
}
