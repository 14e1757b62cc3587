// The input of FFmpeg: the file on stdin. The process opens no file, and FFmpeg is built without protocols that open
// files.

#include "media.h"
// A private header of FFmpeg. It gives access to the functions that recognise an ID3 tag.
#include <libavformat/id3v2.h>
#include <libavutil/intreadwrite.h>

enum { BUFFER_BYTES = 32 * 1024 };
enum { REPLACED_MAX = 128 };
// Numbers that FFmpeg reads instead of the bytes in the file.
static struct {
    int64_t at;
    uint8_t bytes[4];
} replaced[REPLACED_MAX];
static int replaced_count = 0;
// The offset at which the file ends for FFmpeg.
static int64_t end = INT64_MAX;

// Makes FFmpeg read the number `value` instead of the four bytes at the offset `at`. The tables of an MP4 file need up
// to 96 such replacements. A hostile AVI or Matroska file may need more than REPLACED_MAX: FFmpeg then also reads some
// parts of the file that it does not need.
void input_replace(int64_t at, uint32_t value)
{
    if (replaced_count == REPLACED_MAX)
        return;
    replaced[replaced_count].at = at;
    AV_WB32(replaced[replaced_count].bytes, value);
    replaced_count += 1;
}

// Makes the file end at the offset `at` for FFmpeg.
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

// Returns the length of the ID3 tag at the beginning of the file, or 0 if there is none. This tag is meant for MP3
// files, but some programs write it into other files too. FFmpeg skips it in MP3, AAC and FLAC files and a few more
// kinds.
int64_t input_tag_bytes(void)
{
    uint8_t head[ID3v2_HEADER_SIZE];
    const bool is_read = input_read_at(0, head, sizeof head) == (int)sizeof head;
    return is_read && ff_id3v2_match(head, ID3v2_DEFAULT_MAGIC) ? ff_id3v2_tag_len(head) : 0;
}
