// Hides parts of a Matroska file from FFmpeg. The file consists of elements: each has an identifier, a size and a
// content, which may be more elements. Two kinds of elements are hidden:
// - Large attachments, for example the fonts of subtitles, 30 MB and more. FFmpeg would keep four copies of them in
//   memory.
// - Audio tracks whose packets are encrypted, or compressed in a way that FFmpeg cannot undo. FFmpeg would decode them
//   to noise.

#include "boxes.h"
#include "media.h"

// The identifiers of elements in a Matroska file. `ID_UNUSED` is an identifier that no element has. FFmpeg skips an
// element with an unknown identifier, so `ID_UNUSED` hides an element.
enum { ID_HEAD = 0x1A45DFA3, ID_SEGMENT = 0x18538067, ID_CLUSTER = 0x1F43B675 };
enum { ID_ATTACHMENTS = 0x1941A469, ID_UNUSED = 0x1941A46F };
// The element SeekHead lists other elements of the file and their positions. FFmpeg reads an element behind the
// clusters (the packets) only if it is in this list.
enum { ID_LIST = 0x114D9B74, ID_ENTRY = 0x4DBB, ID_ENTRY_ID = 0x53AB, ID_ENTRY_OFFSET = 0x53AC };
enum { ID_TRACKS = 0x1654AE6B, ID_TRACK = 0xAE, ID_CODEC = 0x86 };
enum { ID_ENCODINGS = 0x6D80, ID_ENCODING = 0x6240, ID_ENCODING_TYPE = 0x5033 };
enum { ID_COMPRESSION = 0x5034, ID_COMPRESSION_KIND = 0x4254 };
enum { NUMBER_BYTES_MAX = 8 };
// The maximum number of elements that are read. A usual file has fewer: FFmpeg opens at most 1,000 tracks, and a track
// needs about 40 elements. This limit keeps the CPU time for a hostile file below 0.2 s.
enum { ELEMENTS_MAX = 100000 };
// Attachments that together have at most this many bytes, for example a cover image, are not hidden from FFmpeg. They
// need little memory.
enum { SMALL_BYTES_MAX = 1024 * 1024 };
// The kinds of compression of packets that FFmpeg can undo here. The kind 0 (zlib) is missing, because this FFmpeg is
// built without zlib.
enum { COMPRESSION_LZO = 2, COMPRESSION_OF_HEADERS = 3 };
// The letters "A_NO". They replace the first four letters of the codec's name in a track that must be hidden. No codec
// has such a name, so FFmpeg finds no decoder for the track.
enum { NO_CODEC = 0x415F4E4F };

// An element of the file. Its identifier is at the byte position `at`. Its content begins at the byte position `from`
// and ends before the byte position `to`.
typedef struct Element {
    int64_t id, at, from, to;
} Element;
// The number of elements that may still be read. Without this limit, a hostile file with millions of elements would
// take too much CPU time.
static int elements_left;
// Two byte positions: `segment_from` is the beginning of the content of the element Segment, which contains all other
// elements. `cluster_at` is the beginning of the first cluster, which contains the first packets.
static int64_t file_bytes, segment_from, cluster_at;
// The reason why this program has hidden an audio track from FFmpeg: its packets are "encrypted" or "compressed". The
// reason is null if no track is hidden.
static const char *hidden_for;

// Reads a number of one to eight bytes at the byte position `*at`, and moves `*at` behind it. The zero bits before the
// first 1 bit tell how many bytes follow the first byte. In a size, this 1 bit is not a part of the number; in an
// identifier, it is. Returns -1 if there is no valid number, and INT64_MAX for an unknown size.
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

// Reads the element at the byte position `*at`, and moves `*at` to its end. `to` is the end of the element around it.
// If the element has an unknown size, or is too long, it also ends at `to`. Returns false if `*at` has reached `to`, or
// if the bytes are not an element.
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

// Finds the next element with the identifier `id` before the byte position `to`, and moves `*at` to its end. Returns
// false if there is none.
static bool next_with(int64_t *at, int64_t to, int64_t id, Element *element)
{
    while (next_element(at, to, element))
        if (element->id == id)
            return true;
    return false;
}

// Finds the element with the identifier `id` in `parent`. If it occurs several times, the last one is used, as in
// FFmpeg.
static bool find_element(Element parent, int64_t id, Element *found)
{
    Element element;
    bool is_found = false;
    for (int64_t at = parent.from; next_with(&at, parent.to, id, &element); is_found = true)
        *found = element;
    return is_found;
}

// Returns the number that the element `id` in `parent` contains. Returns 0 if this element is missing, because the
// format defines 0 as the default of all elements that are read here.
static uint64_t number_in(Element parent, int64_t id)
{
    Element found;
    const int64_t length = find_element(parent, id, &found) ? found.to - found.from : 0;
    const uint8_t *bytes = length > 0 && length <= NUMBER_BYTES_MAX ? peek(found.from, (int)length) : NULL;
    return bytes ? number(bytes, (int)length) : 0;
}

// Returns "encrypted" if the packets of a track are encrypted, or "compressed" if FFmpeg cannot undo their compression.
// Returns null if FFmpeg can decode the track.
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
            // The packets of a track may be compressed several times, one time after another. FFmpeg can undo only one
            // compression.
            if (count > 1 || (kind != COMPRESSION_LZO && kind != COMPRESSION_OF_HEADERS))
                reason = "compressed";
        }
    return reason;
}

// Hides the audio tracks whose packets are encrypted, or compressed in a way that FFmpeg cannot undo. FFmpeg would pass
// the bytes of these packets to the decoder as they are, which can give noise. To hide a track, the name of its codec
// is replaced.
static void hide_encoded_tracks(Element tracks)
{
    Element track, codec;
    for (int64_t at = tracks.from; next_with(&at, tracks.to, ID_TRACK, &track);) {
        const char *reason = encoding_of(track);
        if (!reason || !find_element(track, ID_CODEC, &codec) || codec.to - codec.from < 4)
            continue;
        const uint8_t *name = peek(codec.from, 1);
        // The names of all audio codecs in Matroska begin with the letter A, for example A_OPUS. Other tracks, such as
        // video, need not be hidden, because this program never decodes them.
        if (!name || *name != 'A')
            continue;
        input_replace(codec.from, NO_CODEC);
        hidden_for = reason;
    }
}

// Hides an element from FFmpeg if it contains large attachments, because FFmpeg would keep them in memory. If the
// element is the list of the tracks, hides the audio tracks that FFmpeg would decode to noise.
static void hide_in_part(Element part)
{
    if (part.id == ID_ATTACHMENTS && part.to - part.from > SMALL_BYTES_MAX)
        input_replace(part.at, ID_UNUSED);
    if (part.id == ID_TRACKS)
        hide_encoded_tracks(part);
}

// Hides two kinds of elements from FFmpeg if they are behind the first cluster (the packets): large attachments, and
// audio tracks that FFmpeg would decode to noise. The element SeekHead (`list`) lists the positions of such elements. A
// program that edits a file moves an element behind the packets if the element has become too large for its old place.
// SeekHead itself can move behind the packets too. The SeekHead before the clusters (`is_first`) then lists the moved
// SeekHead, so the moved one is read as well.
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

// Hides two kinds of elements from FFmpeg: large attachments, which FFmpeg would keep in memory, and audio tracks that
// FFmpeg would decode to noise. Finds all such elements before the first cluster (the packets). Behind it, finds only
// elements that the list SeekHead names, because FFmpeg reads no others there. The Matroska file begins at the byte
// position `from`. Returns the reason why an audio track is hidden, or null.
const char *matroska_hide_parts(int64_t from)
{
    int64_t at = from;
    Element part;
    elements_left = ELEMENTS_MAX;
    file_bytes = input_size();
    hidden_for = NULL;
    if (!next_element(&at, file_bytes, &part) || part.id != ID_HEAD || !next_with(&at, file_bytes, ID_SEGMENT, &part))
        return NULL;
    // The element Segment contains all elements that follow. Its size is not used, because it can be wrong if the
    // recording was interrupted.
    at = segment_from = part.from;
    while (next_element(&at, file_bytes, &part) && part.id != ID_CLUSTER)
        hide_in_part(part);
    cluster_at = part.at;
    for (at = segment_from; next_with(&at, cluster_at, ID_LIST, &part);)
        hide_listed_parts(part, true);
    return hidden_for;
}
