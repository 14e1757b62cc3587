// Finds the timestamp that a media player shows as 0:00. In many files it is not zero.

#include "media.h"
#include <math.h>

// Containers in which a media player shows the timestamp zero as 0:00. If a stream starts later, there is silence
// before it.
static const char zeroed[] = " mov matroska avi asf flv nut mxf ";
// Containers in which all timestamps may be up to a second too large. Encoders store video frames in another order than
// players show them, and some programs then add a short time to all timestamps of the file. This time is not silence,
// so the first timestamp is shown as 0:00.
static const char shifted[] = " mov flv ";
static const double shift_seconds_max = 1;
// If the first timestamp is at most this many seconds, there is silence before the stream. A larger timestamp is the
// time of a clock, for example in a section that was cut out of a live stream. It is then shown as 0:00.
static const double late_start_seconds_max = 60;

static bool has_pictures(const AVFormatContext *format)
{
    for (unsigned i = 0; i < format->nb_streams; i++)
        if (format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
            !(format->streams[i]->disposition & AV_DISPOSITION_ATTACHED_PIC))
            return true;
    return false;
}

// Returns the timestamp that a media player shows as 0:00, in samples at 16 kHz. In a broadcast, it may have any value.
// In an MP3 file, it is the number of samples that the encoder added at the beginning.
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
