// Finds the streams of a container.

#include "media.h"
// A private header of FFmpeg. Only it gives access to the function that reads the header of a container.
#include <libavformat/demux.h>

bool is_flv(const AVFormatContext *format)
{
    return is_listed(" flv live_flv kux ", format->iformat->name);
}

// Returns to the first packet. Some FLV files contain, after each packet, the sum of the packet sizes so far, and
// FFmpeg rejects a packet if its own sum differs. FFmpeg sets its own sum to zero only when it reads the header of the
// file, so it reads this header again.
static int return_to_start(AVFormatContext *format)
{
    const int64_t start_time = format->start_time;
    int result = av_seek_frame(format, -1, 0, AVSEEK_FLAG_BYTE);
    if (result < 0 || !is_flv(format))
        return result;
    avio_seek(format->pb, format->skip_initial_bytes, SEEK_SET);
    result = ffifmt(format->iformat)->read_header(format);
    format->start_time = start_time;
    return result;
}

// Finds the streams. In a container without a table of streams, FFmpeg reads the packets of a whole minute and keeps
// them in memory. With pictures, these packets take up to 80 MB. So FFmpeg drops the packets here, and reads them
// again later.
int find_streams(AVFormatContext *format)
{
    const bool reads_twice = is_flv(format) || is_listed(" mpegts mpeg ", format->iformat->name);
    if (reads_twice)
        format->flags |= AVFMT_FLAG_NOBUFFER;
    const int result = avformat_find_stream_info(format, NULL);
    return result >= 0 && reads_twice ? return_to_start(format) : result;
}
