// The timestamp that a media player shows as 0:00.

#include "media.h"
#include <math.h>

// Containers in which timestamp zero is the time 0:00 of a media player. In these containers, a stream that starts
// after zero has silence before its start.
static const char zeroed[] = " mov matroska avi asf flv nut mxf ";
// Containers in which picture and sound may both start a short time after zero without any silence. The program that
// wrote the file added this time to all timestamps, because it stores pictures in another order than they are shown.
static const char shifted[] = " mov flv ";
static const double shift_seconds_max = 1;
// The maximum start of a stream, in seconds, that means silence before the stream. A later start is a time of the
// recorder's clock, as in a section that was cut out of a live stream.
static const double late_start_seconds_max = 60;

static bool has_pictures(const AVFormatContext *format)
{
    for (unsigned i = 0; i < format->nb_streams; i++)
        if (format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
            !(format->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC))
            return true;
    return false;
}

// Returns the timestamp that a player shows as 0:00, in samples. In a broadcast this timestamp may have any value. In
// an mp3 file this timestamp is the delay of the encoder.
double origin_of(const Source *source)
{
    if (source->format->start_time == AV_NOPTS_VALUE)
        return 0;
    const double seconds = (double)source->format->start_time / 1e6;
    const bool is_shifted = is_listed(shifted, source->container) && seconds <= shift_seconds_max &&
                            has_pictures(source->format);
    const bool has_own_zero =
        is_listed(zeroed, source->container) && !is_shifted && fabs(seconds) <= late_start_seconds_max;
    return has_own_zero ? 0 : seconds * SAMPLE_RATE;
}
