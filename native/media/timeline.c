// Places each span of sound on the timeline. Timestamps may be wrong, so a small offset is ignored. An overlap is cut,
// and a gap becomes silence. A large jump is accepted only if the next span confirms the jump.

#include "media.h"
#include <math.h>

// The maximum offset that is ignored. Such small offsets come from clocks that count milliseconds, and from coarse
// timestamps of packets.
static const double jitter = 0.02 * SAMPLE_RATE;
// An offset above `jitter` is corrected when it has lasted for this many samples.
static const double patience = 1.0 * SAMPLE_RATE;
// An offset above this size is corrected at once.
static const double noticeable = 0.1 * SAMPLE_RATE;
// An offset above this size is a jump. The next timestamp must confirm a jump.
static const double leap = 1.0 * SAMPLE_RATE;
// The maximum gap in a container whose clock may restart. A larger jump forward is a restart of the clock.
static const double restart = 10.0 * SAMPLE_RATE;

// Moves the end of the sound. Kahan's summation keeps the rounding error of a million additions below that of one.
static void advance(Timeline *timeline, double samples)
{
    const double corrected = samples - timeline->rounding;
    const double sum = timeline->position + corrected;
    timeline->rounding = (sum - timeline->position) - corrected;
    timeline->position = sum;
}

static Placement append(Timeline *timeline, double length, double silence)
{
    timeline->has_begun = true;
    if (silence > 0)
        timeline->slipped = 0;
    advance(timeline, silence + length);
    return (Placement){silence, 0};
}

static Placement cut(Timeline *timeline, double length, double overlap)
{
    const double skip = length < overlap ? length : overlap;
    if (skip < length)
        timeline->has_begun = true;
    timeline->slipped = 0;
    advance(timeline, length - skip);
    return (Placement){0, skip};
}

// Makes the next span follow the placed sound without a gap. The timestamp of the next span is ignored.
void timeline_continue(Timeline *timeline)
{
    timeline->continues = true;
}

// Sets the placement of a span. If `is_exact` is true, small offsets are corrected too. Returns false if the placement
// depends on the next span; the caller then keeps this span until `timeline_settle` sets its placement.
bool timeline_place(Timeline *timeline, Span span, bool is_exact, Placement *placement)
{
    if (timeline->continues && span.has_start)
        timeline->offset = timeline->position - span.start;
    timeline->continues = false;
    const double drift = span.has_start ? span.start + timeline->offset - timeline->position : 0;
    if (!timeline->has_begun && drift < 0) {
        *placement = cut(timeline, span.length, -drift);
        return true;
    }
    if (span.has_start && fabs(drift) > leap) {
        timeline->held = span;
        timeline->is_holding = true;
        return false;
    }
    timeline->slipped = fabs(drift) > jitter ? timeline->slipped + span.length : 0;
    const bool is_wrong = fabs(drift) > noticeable || timeline->slipped > patience ||
                          ((is_exact || !timeline->has_begun) && fabs(drift) > 1);
    if (is_wrong && drift <= 0)
        *placement = cut(timeline, span.length, -drift);
    else
        *placement = append(timeline, span.length, is_wrong ? drift : 0);
    return true;
}

// Returns true if the next span confirms a jump. After a single wrong timestamp, the timestamp of the next span is
// right again. After a real gap, or a clock that was set back, the timestamp of the next span has the same offset.
static bool jump_lasts(const Timeline *timeline, double drift, Span next)
{
    if (!next.has_start)
        return false;
    if (drift > 0)
        return next.start >= timeline->held.start + timeline->held.length - leap;
    return next.start + timeline->offset < timeline->position - leap;
}

// Sets the placement of the span for which `timeline_place` returned false. Returns false if no span waits. `next` is
// the next span; it has no start at the end of the file.
bool timeline_settle(Timeline *timeline, Span next, Placement *placement)
{
    if (!timeline->is_holding)
        return false;
    timeline->is_holding = false;
    const Span held = timeline->held;
    const double drift = held.start + timeline->offset - timeline->position;
    const bool lasts = jump_lasts(timeline, drift, next);
    const bool restarts = timeline->clock_restarts && timeline->has_begun && drift > restart;
    if (lasts && drift > 0 && !restarts) {
        *placement = append(timeline, held.length, drift);
        return true;
    }
    if (lasts)
        timeline->offset -= drift;
    *placement = append(timeline, held.length, 0);
    return true;
}
