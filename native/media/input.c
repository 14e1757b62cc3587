// The input of FFmpeg: the media file on stdin. The process opens no file, and FFmpeg is built without protocols that
// open files. Some bytes can be replaced before FFmpeg sees them, so that it skips parts of the file.

#include "media.h"
// A private header of FFmpeg, with the functions that recognise an ID3 tag (title and artist) at the beginning of a
// file.
#include <libavformat/id3v2.h>
#include <libavutil/intreadwrite.h>

enum { BUFFER_BYTES = 32 * 1024 };
enum { REPLACED_MAX = 128 };
// The replaced bytes: instead of the four bytes at the byte position `at` of the file, FFmpeg reads `bytes`.
static struct {
    int64_t at;
    uint8_t bytes[4];
} replaced[REPLACED_MAX];
static int replaced_count = 0;
// The byte position at which the file ends for FFmpeg. It can be before the real end.
static int64_t end = INT64_MAX;

// Makes FFmpeg read the number `value` instead of the four bytes at the byte position `at`. For example, if these bytes
// are the type of a part of the file, another type makes FFmpeg skip this part. If they are the number of entries in a
// table, a smaller number shortens the table. An MP4 file needs up to 96 replacements. A hostile AVI or Matroska file
// may need more than REPLACED_MAX. The replacements above this number are left out: FFmpeg then reads some parts of the
// file that it does not need.
void input_replace(int64_t at, uint32_t value)
{
    if (replaced_count == REPLACED_MAX)
        return;
    replaced[replaced_count].at = at;
    AV_WB32(replaced[replaced_count].bytes, value);
    replaced_count += 1;
}

// Makes the file end for FFmpeg at the byte position `at`.
void input_end_at(int64_t at)
{
    end = at;
}

void input_restore(void)
{
    replaced_count = 0;
    end = INT64_MAX;
}

static void replace_bytes(int64_t position, uint8_t *bytes, int count)
{
    for (int i = 0; i < replaced_count; i++)
        for (int byte = 0; byte < 4; byte++) {
            const int64_t at = replaced[i].at + byte - position;
            if (at >= 0 && at < count)
                bytes[at] = replaced[i].bytes[byte];
        }
}

static int read_next(void *user, uint8_t *bytes, int length)
{
    int64_t *position = user;
    const int64_t left = *position < end ? end - *position : 0;
    int count = input_read_at(*position, bytes, left < length ? (int)left : length);
    replace_bytes(*position, bytes, count);
    *position += count;
    return count > 0 ? count : AVERROR_EOF;
}

static int64_t seek_to(void *user, int64_t offset, int whence)
{
    static int64_t bytes = -1;
    int64_t *position = user;
    if (bytes < 0)
        bytes = input_size();
    const int64_t size = bytes < end ? bytes : end;
    if ((whence & ~AVSEEK_FORCE) == AVSEEK_SIZE)
        return size;
    int64_t from = (whence & ~AVSEEK_FORCE) == SEEK_SET ? 0 : (whence & ~AVSEEK_FORCE) == SEEK_CUR ? *position : size;
    if (offset > OFFSET_MAX || from + offset < 0 || from + offset > OFFSET_MAX)
        return AVERROR(EINVAL);
    return *position = from + offset;
}

// Opens the input. Returns null if there is not enough memory.
AVIOContext *input_open(void)
{
    int64_t *position = av_mallocz(sizeof *position);
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    AVIOContext *io =
        position && buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 0, position, read_next, NULL, seek_to) : NULL;
    if (!io) {
        av_free(position);
        av_free(buffer);
    }
    return io;
}

void input_close(AVIOContext *io)
{
    av_freep(&io->opaque);
    av_freep(&io->buffer);
    avio_context_free(&io);
}

// Returns the length of the ID3 tag at the beginning of the file in bytes, or 0 if there is none. The tag has the title
// and the artist. It is meant for MP3 files, but some programs write it into other files too. FFmpeg skips it only in
// MP3, AAC and FLAC files and a few more kinds.
int64_t input_tag_bytes(void)
{
    uint8_t head[ID3v2_HEADER_SIZE];
    const bool is_read = input_read_at(0, head, sizeof head) == (int)sizeof head;
    return is_read && ff_id3v2_match(head, ID3v2_DEFAULT_MAGIC) ? ff_id3v2_tag_len(head) : 0;
}
