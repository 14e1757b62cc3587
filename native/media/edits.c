// Finds MP4 files whose edit lists only shift or trim a track. For these files, FFmpeg need not apply the edit lists in
// full. To apply them in full, FFmpeg builds the index of every track a second time, which takes 60 MB for ten hours of
// audio.

#include "boxes.h"
#include "media.h"

// The maximum padding of the last packet, in seconds. An edit that removes more than this at the end of its media
// removes sound.
static const double padding_seconds_max = 0.1;

// Returns true if the edit list of the track only shifts or trims it, or if the track has no edit list.
bool edits_are_plain(const Track *track, Clock movie)
{
    if (!track->count[ELST])
        return true;
    if (!track->count[MDHD])
        return false;
    Edit edits[2];
    const int count = read_edits(track->boxes[ELST], edits);
    // If a track begins late, its edit list starts with an empty edit.
    const int empty = count > 0 && edits[0].start == -1 ? 1 : 0;
    if (count - empty != 1)
        return false;
    const Edit edit = edits[empty];
    const Clock media = read_clock(track->boxes[MDHD]);
    const double timescale = (double)media.timescale;
    const double end = (double)edit.start / timescale + (double)edit.duration / (double)movie.timescale;
    return edit.duration == 0 || end >= (double)media.duration / timescale - padding_seconds_max;
}

// Returns true if the box `moov` (the index of an MP4 file) has at least `index_bytes_min` bytes, and every edit list
// only shifts or trims its track.
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
