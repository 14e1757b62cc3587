// Decides at which time of the output each span of sound (a packet or a frame) is written. Usually a span follows the
// previous one. Its timestamp may give another time. Timestamps may be wrong, so a small difference is ignored. A
// larger one is corrected: a gap becomes silence, and an overlap is cut. A jump of more than a second is accepted only
// if the timestamp of the next span confirms it. Timestamps that nearly stand still are wrong, so no sound is cut there.

#include "media.h"
#include <math.h>

// A span is not moved if its timestamp differs from the end of the previous span by at most 20 ms. Rounded timestamps,
// and clocks that count only milliseconds, cause such differences.
static const double jitter = 0.02 * SAMPLE_RATE;
// If the timestamps differ from the end of the previous span by more than 20 ms, and this lasts for one second of
// sound, the sound is moved to its timestamps.
static const double patience = 1.0 * SAMPLE_RATE;
// If a timestamp differs from the end of the previous span by more than this (100 ms), the span is moved to its
// timestamp at once.
static const double noticeable = 0.1 * SAMPLE_RATE;
// If a timestamp differs from the end of the previous span by more than this (one second), it is a jump. The timestamp
// may be wrong, so the span is moved only if the next timestamp confirms the jump.
static const double leap = 1.0 * SAMPLE_RATE;
// In a broadcast, the clock of the timestamps may be set to another time. So a jump forward of more than this (ten
// seconds) is not a gap, and no silence is written.
static const double restart = 10.0 * SAMPLE_RATE;

// Adds `samples` to `position`, the time in the output at which the sound so far ends. Each addition of floats has a
// rounding error. Kahan's summation corrects it in the next addition, so that the errors of a million additions do not
// add up.
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

// Counts how many spans (packets or frames) in a row have slow timestamps. `is_slow` uses this number. The timestamp of
// a span is the time of its start. So the next timestamp should be later by the length of this span. If it is later by
// less than `SLOW_SHARE` (0.52) times this length, the next timestamp is slow.
static void watch_clock(Timeline *timeline, Span span)
{
    const Span last = timeline->last;
    if (!span.has_start)
        return;
    const double step = span.start - last.start;
    const bool advances_slowly = last.has_start && step < SLOW_SHARE * last.length;
    timeline->slow_spans = advances_slowly ? timeline->slow_spans + 1 : 0;
    timeline->last = span;
}

// Returns true if the timestamps of the last spans (packets or frames) are slow: from one span to the next, they
// advance by less than about half the length of a span. According to these timestamps, each span starts before the
// previous span ends. Such an overlap is usually cut. But slow timestamps are wrong and the sound does not overlap, so
// the sound must not be cut. Programs that copy a recording write slow timestamps where the clock of the recording was
// set back: each packet gets a timestamp just after the previous one, until the clock reaches the old time again.
static bool is_slow(const Timeline *timeline)
{
    return timeline->slow_spans >= SLOW_SPANS_MIN;
}

// Returns the difference, in samples, between the timestamp of a span and the end of the sound so far. Slow timestamps
// (see `is_slow`) are wrong, so their sound is written in full. This sound then ends later than its timestamps say, by
// `moved` samples. When the timestamps are correct again, they seem to show a gap. The sound already fills the first
// `moved` samples of this gap, so they are subtracted from the difference.
static double drift_of(Timeline *timeline, Span span)
{
    if (!span.has_start)
        return 0;
    const double drift = span.start + timeline->offset - timeline->position;
    if (timeline->slow_spans > 0)
        return drift;
    const double moved = drift > 0 ? fmin(drift, timeline->moved) : 0;
    timeline->offset -= moved;
    timeline->moved = 0;
    return drift - moved;
}

// Makes the next span (a packet or a frame) begin where the sound so far ends in the output, whatever its timestamp is.
// The timestamps of later spans are then counted from the timestamp of this span or, if it has none, from the first
// timestamp after it.
void timeline_continue(Timeline *timeline)
{
    timeline->continues = true;
}

// Decides at which time a span of sound (a packet or a frame) is written, and sets `placement`. Usually, a small
// difference between the timestamp and the end of the previous span is ignored (see `jitter`). If `is_exact` is true,
// a difference of more than one sample is corrected: a gap becomes silence, and an overlap is cut. An overlap is not
// cut if the timestamps advance too slowly, because such timestamps are wrong (see `is_slow`). Returns false if the
// span cannot be placed yet, because its timestamp jumps by more than a second. The caller then keeps the span until
// `timeline_settle` has seen the next span.
bool timeline_place(Timeline *timeline, Span span, bool is_exact, Placement *placement)
{
    if (timeline->continues && span.has_start) {
        timeline->offset = timeline->position - span.start;
        timeline->continues = false;
    }
    watch_clock(timeline, span);
    const double drift = drift_of(timeline, span);
    if (!timeline->has_begun && drift < -1) {
        *placement = cut(timeline, span.length, -drift);
        return true;
    }
    if (span.has_start && fabs(drift) > leap) {
        timeline->held = span;
        timeline->is_holding = true;
        return false;
    }
    if (drift < 0 && is_slow(timeline)) {
        timeline->offset -= drift;
        timeline->moved -= drift;
        *placement = append(timeline, span.length, 0);
        return true;
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

// Decides if the jump of a held span is real. A held span is not written yet, because its timestamp differs by more
// than a second from the end of the sound so far. Returns true if the timestamp of the next span has jumped too. This
// is so after a gap in the sound, or if the clock was set to another time. Returns false if the next timestamp
// continues the timestamps before the jump, or if the next span has no timestamp. Then only the timestamp of the held
// span counts as wrong.
static bool jump_lasts(const Timeline *timeline, double drift, Span next)
{
    if (!next.has_start)
        return false;
    if (drift > 0)
        return next.start >= timeline->held.start + timeline->held.length - leap;
    return next.start + timeline->offset < timeline->position - leap;
}

// Sets the placement of the held span: a span that `timeline_place` did not place, because its timestamp has jumped.
// `next` is the span after the held span. Its timestamp shows whether the jump is real. At the end of the file, `next`
// has no start. Returns false if no span is held.
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
