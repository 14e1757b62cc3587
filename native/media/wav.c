// Corrects three errors of FFmpeg with WAV files: samples in big-endian order, 24-bit samples that are stored in 32
// bits, and a header without the size of the sound.

#include "boxes.h"
#include "media.h"
#include <libavutil/intreadwrite.h>
#include <string.h>

// The beginning of a WAV file above 4 GB. Its first part `ds64` contains the size of the sound as a number of 64 bits.
enum { LARGE_HEAD_BYTES = 36, DS64_AT = 12, SOUND_SIZE_AT = 28, RIFF = 0x52494646 };
enum { RIFX = 0x52494658 };
enum { RIFF_HEAD_BYTES = 12, CHUNK_HEAD_BYTES = 8, CHUNKS_MAX = 1000, EXTENSIBLE = 0xFFFE };

// Returns true if the WAV file at the byte position `at` has the extensible header. This is a newer form of the header,
// in the part `fmt ` of the file.
static bool is_extensible(int64_t at)
{
    at += RIFF_HEAD_BYTES;
    for (int chunks = 0; chunks < CHUNKS_MAX; chunks++) {
        const uint8_t *chunk = peek(at, CHUNK_HEAD_BYTES + 2);
        if (!chunk)
            return false;
        if (memcmp(chunk, "fmt ", 4) == 0)
            return AV_RL16(chunk + CHUNK_HEAD_BYTES) == EXTENSIBLE;
        const int64_t size = AV_RL32(chunk + 4);
        at += CHUNK_HEAD_BYTES + size + size % 2;
    }
    return false;
}

// Returns the codec for the samples of a RIFX file, which is a WAV file with big-endian numbers. `codec` is the choice
// of FFmpeg. With this little-endian codec, the decoded sound would be noise. So the same codec for big-endian samples
// is returned. A codec whose samples have one byte stays the same. For any other codec, the right one is not known, so
// the result is no codec.
static enum AVCodecID big_endian_codec(enum AVCodecID codec)
{
    switch (codec) {
    case AV_CODEC_ID_PCM_U8:
    case AV_CODEC_ID_PCM_ALAW:
    case AV_CODEC_ID_PCM_MULAW:
        return codec;
    case AV_CODEC_ID_PCM_S16LE:
        return AV_CODEC_ID_PCM_S16BE;
    case AV_CODEC_ID_PCM_S24LE:
        return AV_CODEC_ID_PCM_S24BE;
    case AV_CODEC_ID_PCM_S32LE:
        return AV_CODEC_ID_PCM_S32BE;
    case AV_CODEC_ID_PCM_F32LE:
        return AV_CODEC_ID_PCM_F32BE;
    case AV_CODEC_ID_PCM_F64LE:
        return AV_CODEC_ID_PCM_F64BE;
    default:
        return AV_CODEC_ID_NONE;
    }
}

// Corrects the codec of a WAV file. FFmpeg decodes 24-bit samples as floats if each is stored in 32 bits, because an
// old program stored floats in this way. That program never wrote the extensible header. In a file with this header,
// the samples are integers.
void wav_correct_codec(AVFormatContext *format)
{
    AVCodecParameters *codec = format->nb_streams > 0 ? format->streams[0]->codecpar : NULL;
    if (!codec || strcmp(format->iformat->name, "wav") != 0)
        return;
    const int64_t from = format->skip_initial_bytes;
    const uint8_t *head = peek(from, 4);
    if (head && AV_RB32(head) == RIFX)
        codec->codec_id = big_endian_codec(codec->codec_id);
    else if (codec->codec_id == AV_CODEC_ID_PCM_F24LE && is_extensible(from))
        codec->codec_id = AV_CODEC_ID_PCM_S32LE;
}

// The formats RF64 and BW64 are WAV files for more than 4 GB. A recorder that crashed can leave such a file without the
// size of the sound in its header. FFmpeg would find no sound in it. Makes FFmpeg see an ordinary WAV file instead,
// which FFmpeg reads up to the end even without this size.
void wav_hide_missing_size(int64_t from)
{
    const uint8_t *head = peek(from, LARGE_HEAD_BYTES);
    if (!head || (memcmp(head, "RF64", 4) != 0 && memcmp(head, "BW64", 4) != 0) || memcmp(head + DS64_AT, "ds64", 4) != 0)
        return;
    if ((int64_t)AV_RL64(head + SOUND_SIZE_AT) <= 0)
        input_replace(from, RIFF);
}
