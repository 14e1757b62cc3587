// The function with which this program reads the packets of a container, in place of the function of FFmpeg (reader.c).

#ifndef STENO_READER_H
#define STENO_READER_H

// A private header of FFmpeg. Only it gives access to the function of a container that reads a packet.
#include <libavformat/demux.h>

typedef int ReadPacket(AVFormatContext *format, AVPacket *packet);
void reader_install(AVFormatContext *format, ReadPacket *read);
int reader_fill(AVPacket *packet, int64_t at, int size);

#endif
