// The functions with which this program gives FFmpeg the packets of a file (reader.c). FFmpeg then does not read the
// packets itself.

#ifndef STENO_READER_H
#define STENO_READER_H

// A private header of FFmpeg. Only it declares the function that reads a packet from a container.
#include <libavformat/demux.h>

typedef int ReadPacket(AVFormatContext *format, AVPacket *packet);
void reader_install(AVFormatContext *format, ReadPacket *read);
int reader_fill(AVPacket *packet, int64_t at, int size);

#endif
