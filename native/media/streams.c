// Finds the audio and video streams of a file.

#include "media.h"
// A private header of FFmpeg. Only it gives access to the function that reads the header of a container.
#include <libavformat/demux.h>

bool is_flv(const AVFormatContext *format)
{
    return is_listed(" flv live_flv kux ", format->iformat->name);
}

// Makes FFmpeg read the file from the first packet again. Some FLV files contain, after each packet, the sum of the
// sizes of all packets so far. FFmpeg also computes this sum, and rejects a packet if the two sums differ. FFmpeg sets
// its sum to zero only when it reads the header of the file, so it must read the header again.
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

// Finds the streams of a file. Some containers have no list of their streams. FFmpeg then reads the packets of a whole
// minute to find the streams, and keeps these packets in memory, up to 80 MB. Here, FFmpeg drops these packets and
// reads them again later.
int find_streams(AVFormatContext *format)
{
    const bool reads_twice = is_flv(format) || is_listed(" mpegts mpeg ", format->iformat->name);
    if (reads_twice)
        format->flags |= AVFMT_FLAG_NOBUFFER;
    const int result = avformat_find_stream_info(format, NULL);
    return result >= 0 && reads_twice ? return_to_start(format) : result;
}
