// Hides the attachments of a Matroska file from FFmpeg. Such a file can contain fonts for its subtitles, 30 MB and more.
// FFmpeg would keep four copies of them in memory.

#include "boxes.h"
#include "media.h"

// The identifiers of elements. `ID_UNUSED` belongs to no element, so FFmpeg skips the element that has it.
enum { ID_HEAD = 0x1A45DFA3, ID_SEGMENT = 0x18538067, ID_CLUSTER = 0x1F43B675 };
enum { ID_ATTACHMENTS = 0x1941A469, ID_UNUSED = 0x1941A46F };
enum { ELEMENTS_MAX = 1000, NUMBER_BYTES_MAX = 8 };
// FFmpeg reads smaller attachments itself, for example a cover.
enum { SMALL_BYTES_MAX = 1024 * 1024 };

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

// Hides large attachments before the first cluster, which contains the first packets.
void matroska_hide_attachments(void)
{
    int64_t at = 0;
    if (take_number(&at, false) != ID_HEAD)
        return;
    at += take_number(&at, true);
    if (take_number(&at, false) != ID_SEGMENT)
        return;
    take_number(&at, true);
    for (int elements = 0; elements < ELEMENTS_MAX; elements++) {
        const int64_t from = at;
        const int64_t id = take_number(&at, false);
        const int64_t size = take_number(&at, true);
        if (id < 0 || id == ID_CLUSTER || size < 0 || size > input_size() - at)
            return;
        if (id == ID_ATTACHMENTS && size > SMALL_BYTES_MAX)
            input_replace(from, ID_UNUSED);
        at += size;
    }
}
