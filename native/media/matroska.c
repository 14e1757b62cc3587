// Hides parts of a Matroska file from FFmpeg: large attachments, and tracks that FFmpeg would decode to noise. A file can
// contain fonts for its subtitles, 30 MB and more, and FFmpeg would keep four copies of them in memory.

#include "boxes.h"
#include "media.h"

// The identifiers of elements. `ID_UNUSED` belongs to no element, so FFmpeg skips the element that has it.
enum { ID_HEAD = 0x1A45DFA3, ID_SEGMENT = 0x18538067, ID_CLUSTER = 0x1F43B675 };
enum { ID_ATTACHMENTS = 0x1941A469, ID_UNUSED = 0x1941A46F };
enum { ID_TRACKS = 0x1654AE6B, ID_TRACK = 0xAE, ID_CODEC = 0x86 };
enum { ID_ENCODINGS = 0x6D80, ID_ENCODING = 0x6240, ID_ENCODING_TYPE = 0x5033 };
enum { ID_COMPRESSION = 0x5034, ID_COMPRESSION_KIND = 0x4254 };
enum { ELEMENTS_MAX = 1000, NUMBER_BYTES_MAX = 8 };
// FFmpeg reads smaller attachments itself, for example a cover.
enum { SMALL_BYTES_MAX = 1024 * 1024 };
// The kinds of compression that FFmpeg can undo. The default kind is zlib, with the number 0.
enum { COMPRESSION_LZO = 2, COMPRESSION_OF_HEADERS = 3 };
// The letters "A_NO". No codec of sound has a name that begins with them.
enum { NO_CODEC = 0x415F4E4F };

// The content of an element is at the offsets from `from` to `to`; `at` is the offset of its identifier.
typedef struct Element {
    int64_t id, at, from, to;
} Element;
// The number of elements that may still be read. It is limited, because a hostile file may contain any number.
static int elements_left;

// Reads a number at `*at`, and moves `*at` to its end. The first bit of the number that is set tells its length; it
// belongs to an identifier, but not to a size. Returns -1 if there is no number, and for an unknown size.
static int64_t take_number(int64_t *at, bool is_size)
{
    const uint8_t *first = peek(*at, 1);
    int length = 1;
    while (first && length <= NUMBER_BYTES_MAX && !(*first & 0x80 >> (length - 1)))
        length += 1;
    const uint8_t *bytes = first && length <= NUMBER_BYTES_MAX ? peek(*at, length) : NULL;
    if (!bytes)
        return -1;
    const uint64_t value = number(bytes, length);
    const uint64_t unknown = ((uint64_t)1 << 7 * length) - 1;
    *at += length;
    if (!is_size)
        return length <= 4 ? (int64_t)value : -1;
    return (value & unknown) == unknown ? -1 : (int64_t)(value & unknown);
}

// Reads the element at `*at`, and moves `*at` to its end. Returns false at `to`, or if there is no whole element.
static bool next_element(int64_t *at, int64_t to, Element *element)
{
    element->at = *at;
    if (*at >= to || elements_left-- <= 0)
        return false;
    element->id = take_number(at, false);
    const int64_t size = take_number(at, true);
    if (element->id < 0 || size < 0 || size > to - *at)
        return false;
    element->from = *at;
    *at = element->to = *at + size;
    return true;
}

static bool find_element(Element parent, int64_t id, Element *found)
{
    for (int64_t at = parent.from; next_element(&at, parent.to, found);)
        if (found->id == id)
            return true;
    return false;
}

// Returns the number in the element `id`, or 0 if the element is missing. All these numbers have the default 0.
static uint64_t number_in(Element parent, int64_t id)
{
    Element found;
    const int64_t length = find_element(parent, id, &found) ? found.to - found.from : 0;
    const uint8_t *bytes = length > 0 && length <= NUMBER_BYTES_MAX ? peek(found.from, (int)length) : NULL;
    return bytes ? number(bytes, (int)length) : 0;
}

// Returns the reason why FFmpeg cannot decode the packets of a track, or null if it can.
static const char *encoding_of(Element track)
{
    Element encodings, encoding, compression;
    if (!find_element(track, ID_ENCODINGS, &encodings))
        return NULL;
    const char *reason = NULL;
    int64_t count = 0;
    for (int64_t at = encodings.from; next_element(&at, encodings.to, &encoding);) {
        if (encoding.id != ID_ENCODING)
            continue;
        if (number_in(encoding, ID_ENCODING_TYPE) != 0)
            return "encrypted";
        const bool has_kind = find_element(encoding, ID_COMPRESSION, &compression);
        const uint64_t kind = has_kind ? number_in(compression, ID_COMPRESSION_KIND) : 0;
        count += 1;
        // FFmpeg undoes a single encoding.
        if (count > 1 || (kind != COMPRESSION_LZO && kind != COMPRESSION_OF_HEADERS))
            reason = "compressed";
    }
    return reason;
}

// Hides the codecs of the tracks whose packets FFmpeg cannot decode. FFmpeg would pass the bytes of these packets to the
// decoder as they are. Returns the reason why the last one of these tracks is hidden, or null.
static const char *hide_encoded_tracks(Element tracks)
{
    const char *reason = NULL;
    Element track, codec;
    for (int64_t at = tracks.from; next_element(&at, tracks.to, &track);) {
        const char *encoding = track.id == ID_TRACK ? encoding_of(track) : NULL;
        if (!encoding || !find_element(track, ID_CODEC, &codec) || codec.to - codec.from < 4)
            continue;
        const uint8_t *name = peek(codec.from, 1);
        // The codecs of sound begin with the letter A.
        if (!name || *name != 'A')
            continue;
        input_replace(codec.from, NO_CODEC);
        reason = encoding;
    }
    return reason;
}

// Hides large attachments and encoded tracks before the first cluster, which contains the first packets. Returns the
// reason why a track of sound is hidden, or null.
const char *matroska_hide_parts(void)
{
    int64_t at = 0;
    elements_left = ELEMENTS_MAX;
    Element element;
    if (!next_element(&at, input_size(), &element) || element.id != ID_HEAD || take_number(&at, false) != ID_SEGMENT)
        return NULL;
    take_number(&at, true);
    const char *reason = NULL;
    while (next_element(&at, input_size(), &element) && element.id != ID_CLUSTER) {
        if (element.id == ID_ATTACHMENTS && element.to - element.from > SMALL_BYTES_MAX)
            input_replace(element.at, ID_UNUSED);
        if (element.id == ID_TRACKS)
            reason = hide_encoded_tracks(element);
    }
    return reason;
}
