// Hides parts of a Matroska file from FFmpeg: large attachments, and tracks that FFmpeg would decode to noise. A file can
// contain fonts for its subtitles, 30 MB and more, and FFmpeg would keep four copies of them in memory.

#include "boxes.h"
#include "media.h"

// The identifiers of elements. `ID_UNUSED` belongs to no element, so FFmpeg skips the element that has it.
enum { ID_HEAD = 0x1A45DFA3, ID_SEGMENT = 0x18538067, ID_CLUSTER = 0x1F43B675 };
enum { ID_ATTACHMENTS = 0x1941A469, ID_UNUSED = 0x1941A46F };
// The list of the parts of the segment and their offsets (SeekHead). FFmpeg reads a part behind the clusters only if
// the part is in this list.
enum { ID_LIST = 0x114D9B74, ID_ENTRY = 0x4DBB, ID_ENTRY_ID = 0x53AB, ID_ENTRY_OFFSET = 0x53AC };
enum { ID_TRACKS = 0x1654AE6B, ID_TRACK = 0xAE, ID_CODEC = 0x86 };
enum { ID_ENCODINGS = 0x6D80, ID_ENCODING = 0x6240, ID_ENCODING_TYPE = 0x5033 };
enum { ID_COMPRESSION = 0x5034, ID_COMPRESSION_KIND = 0x4254 };
enum { NUMBER_BYTES_MAX = 8 };
// The maximum number of elements that are read. FFmpeg opens at most 1,000 tracks, and 40 elements are enough for a
// track. To read so many elements takes at most 0.2 s of CPU time. FFmpeg needs ten times as long for such a file.
enum { ELEMENTS_MAX = 100000 };
// The maximum size of an attachment that is not hidden, for example a cover.
enum { SMALL_BYTES_MAX = 1024 * 1024 };
// The kinds of compression that this FFmpeg can undo. The default kind, zlib with the number 0, is missing here,
// because this FFmpeg is built without zlib.
enum { COMPRESSION_LZO = 2, COMPRESSION_OF_HEADERS = 3 };
// The letters "A_NO". No codec of sound has a name that begins with these letters, so FFmpeg finds no decoder.
enum { NO_CODEC = 0x415F4E4F };

// The content of an element is at the offsets from `from` to `to`; `at` is the offset of its identifier.
typedef struct Element {
    int64_t id, at, from, to;
} Element;
// The number of elements that may still be read. It is limited, because a hostile file may contain any number.
static int elements_left;
// The offsets of the parts of the segment are counted from `segment_from`. `cluster_at` is the offset of the first
// cluster.
static int64_t file_bytes, segment_from, cluster_at;
// The reason why a track of sound is hidden, or null.
static const char *hidden_for;

// Reads a number at `*at`, and moves `*at` to its end. The first bit that is set gives the length of the number. This
// bit is a part of an identifier, but not of a size. Returns -1 if there is no number, and INT64_MAX for an unknown
// size.
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
    return (value & unknown) == unknown ? INT64_MAX : (int64_t)(value & unknown);
}

// Reads the element at `*at`, and moves `*at` to its end. An element that is longer than its parent ends at `to`, and
// so does an element of unknown size. Returns false at `to`, or if there is no element.
static bool next_element(int64_t *at, int64_t to, Element *element)
{
    element->at = *at;
    if (*at >= to || elements_left <= 0)
        return false;
    elements_left -= 1;
    element->id = take_number(at, false);
    const int64_t size = take_number(at, true);
    if (element->id < 0 || size < 0 || *at > to)
        return false;
    element->from = *at;
    *at = element->to = size < to - *at ? *at + size : to;
    return true;
}

// Reads the next element with the identifier `id`, and moves `*at` to its end.
static bool next_with(int64_t *at, int64_t to, int64_t id, Element *element)
{
    while (next_element(at, to, element))
        if (element->id == id)
            return true;
    return false;
}

// Finds the last element with the identifier `id`, as FFmpeg does.
static bool find_element(Element parent, int64_t id, Element *found)
{
    Element element;
    bool is_found = false;
    for (int64_t at = parent.from; next_with(&at, parent.to, id, &element); is_found = true)
        *found = element;
    return is_found;
}

// Returns the number in the element `id`, or 0 if the element is missing: every element that is read in this way has
// the default 0.
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
    const char *reason = NULL;
    int count = 0;
    for (int64_t at = track.from; next_with(&at, track.to, ID_ENCODINGS, &encodings);)
        for (int64_t next = encodings.from; next_with(&next, encodings.to, ID_ENCODING, &encoding);) {
            if (number_in(encoding, ID_ENCODING_TYPE) != 0)
                return "encrypted";
            const bool has_kind = find_element(encoding, ID_COMPRESSION, &compression);
            const uint64_t kind = has_kind ? number_in(compression, ID_COMPRESSION_KIND) : 0;
            count += 1;
            // FFmpeg undoes at most one encoding of a track.
            if (count > 1 || (kind != COMPRESSION_LZO && kind != COMPRESSION_OF_HEADERS))
                reason = "compressed";
        }
    return reason;
}

// Hides the codecs of the tracks whose packets FFmpeg cannot decode. FFmpeg would pass the bytes of these packets to the
// decoder as they are.
static void hide_encoded_tracks(Element tracks)
{
    Element track, codec;
    for (int64_t at = tracks.from; next_with(&at, tracks.to, ID_TRACK, &track);) {
        const char *reason = encoding_of(track);
        if (!reason || !find_element(track, ID_CODEC, &codec) || codec.to - codec.from < 4)
            continue;
        const uint8_t *name = peek(codec.from, 1);
        // The codecs of sound begin with the letter A.
        if (!name || *name != 'A')
            continue;
        input_replace(codec.from, NO_CODEC);
        hidden_for = reason;
    }
}

// Hides a part of the segment if the part has large attachments. If the part describes the tracks, hides the tracks
// that FFmpeg cannot decode.
static void hide_in_part(Element part)
{
    if (part.id == ID_ATTACHMENTS && part.to - part.from > SMALL_BYTES_MAX)
        input_replace(part.at, ID_UNUSED);
    if (part.id == ID_TRACKS)
        hide_encoded_tracks(part);
}

// Hides the parts of the segment that a list names and that are behind the first cluster. A program that edits a file
// adds a part there if the part does not fit before the clusters. The program may add a new list there too. The list
// before the clusters (`is_first`) then names only the new list, so this function also reads the new list.
static void hide_listed_parts(Element list, bool is_first)
{
    Element entry, part;
    for (int64_t at = list.from; next_with(&at, list.to, ID_ENTRY, &entry);) {
        const uint64_t id = number_in(entry, ID_ENTRY_ID);
        if (id != ID_TRACKS && id != ID_ATTACHMENTS && id != ID_LIST)
            continue;
        const uint64_t offset = number_in(entry, ID_ENTRY_OFFSET);
        int64_t part_at = offset < (uint64_t)file_bytes ? segment_from + (int64_t)offset : 0;
        if (part_at < cluster_at || !next_element(&part_at, file_bytes, &part))
            continue;
        hide_in_part(part);
        if (part.id == ID_LIST && is_first)
            hide_listed_parts(part, false);
    }
}

// Hides large attachments, and tracks that FFmpeg cannot decode. The Matroska file begins at the offset `from`. The
// parts with attachments and tracks precede the first cluster, which contains the first packets, or a list before this
// cluster names them. Returns the reason why a track of sound is hidden, or null.
const char *matroska_hide_parts(int64_t from)
{
    int64_t at = from;
    Element part;
    elements_left = ELEMENTS_MAX;
    file_bytes = input_size();
    hidden_for = NULL;
    if (!next_element(&at, file_bytes, &part) || part.id != ID_HEAD || !next_with(&at, file_bytes, ID_SEGMENT, &part))
        return NULL;
    // The size of the segment is not used: in a recording that was not completed, it can be wrong.
    at = segment_from = part.from;
    while (next_element(&at, file_bytes, &part) && part.id != ID_CLUSTER)
        hide_in_part(part);
    cluster_at = part.at;
    for (at = segment_from; next_with(&at, cluster_at, ID_LIST, &part);)
        hide_listed_parts(part, true);
    return hidden_for;
}
