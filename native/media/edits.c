// An edit list of an MP4 file tells which part of a track is played, and how much silence precedes it. Most edit lists
// only shift a track in time or trim its ends. If a large file has only such lists, FFmpeg is told not to apply them in
// full. It then still shifts the timestamps, but may leave a little padding at the end of the track. To apply edit
// lists in full, FFmpeg would build the index of all packets a second time. This takes 60 MB of memory for ten hours of
// audio.

#include "boxes.h"
#include "media.h"

// An edit list may remove up to this many seconds at the end of a track, because this is padding: samples that the
// encoder added. The list then counts as plain, and FFmpeg need not apply it in full. If the list removes more, it
// removes recorded sound, so FFmpeg must apply it in full.
static const double padding_seconds_max = 0.1;

// Returns true if the track has no edit list, or if its list only shifts the track or trims its ends.
bool edits_are_plain(const Track *track, Clock movie)
{
    if (!track->count[ELST])
        return true;
    if (!track->count[MDHD])
        return false;
    Edit edits[2];
    const int count = read_edits(track->boxes[ELST], edits);
    // An edit with the start -1 is silence. It precedes a track that begins later than the other tracks.
    const int empty = count > 0 && edits[0].start == -1 ? 1 : 0;
    if (count - empty != 1)
        return false;
    const Edit edit = edits[empty];
    const Clock media = read_clock(track->boxes[MDHD]);
    const double timescale = (double)media.timescale;
    const double end = (double)edit.start / timescale + (double)edit.duration / (double)movie.timescale;
    return edit.duration == 0 || end >= (double)media.duration / timescale - padding_seconds_max;
}

// Returns true if FFmpeg need not apply the edit lists of the file in full, which saves memory. For this, every edit
// list must only shift or trim its track. Also, the box `moov`, which lists the packets, must have at least
// `index_bytes_min` bytes. With a smaller `moov`, FFmpeg needs little memory anyway.
bool edits_shift_only(int64_t index_bytes_min)
{
    Walk walk = {.boxes_left = BOXES_MAX};
    Box movie;
    Clock clock;
    if (!find_movie(&walk, index_bytes_min, &movie, &clock))
        return false;
    Track track;
    for (int64_t at = movie.from; next_track(&walk, &at, movie, &track);)
        if (!edits_are_plain(&track, clock))
            return false;
    return walk.boxes_left > 0;
}
