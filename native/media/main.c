// Reads the server's command from the arguments, confines the process, and inspects or decodes the file.
//
//     steno-media version
//     steno-media inspect|decode NAME=NUMBER… <FILE

#include "media.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Argument {
    const char *name;
    int64_t *value;
} Argument;

// Prints the versions of the protocol and of FFmpeg. The commands `steno version`, `steno licenses` and `steno doctor`
// show them.
static int print_version(void)
{
    printf("{\"protocol\":%d,\"ffmpeg\":\"%s\",\"license\":\"%s\"}\n", PROTOCOL_VERSION, av_version_info(),
           avformat_license());
    return 0;
}

// Reads one argument such as `cpu_ms=1000`. Returns false if the name or the number is wrong.
static bool read_argument(const char *text, const Argument *arguments, size_t count)
{
    const char *equals = strchr(text, '=');
    if (!equals)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(arguments[i].name);
        if (length != (size_t)(equals - text) || strncmp(arguments[i].name, text, length) != 0)
            continue;
        char *end;
        *arguments[i].value = strtoll(equals + 1, &end, 10);
        return *end == 0 && end != equals + 1 && *arguments[i].value >= 0;
    }
    return false;
}

// Reads the server's command (`inspect` or `decode`) and its settings from the arguments into `order`. Returns false if
// the command, the number of arguments, a name or a value is wrong. Does not check whether a name occurs twice: the
// server has the same version as this program, and passes each argument exactly once.
static bool read_order(Order *order, int count, char **texts)
{
    const Argument arguments[] = {
        {"parent", &order->limits.parent},
        {"priority", &order->limits.priority},
        {"open_cpu_ms", &order->limits.open_cpu_ms},
        {"cpu_ms", &order->limits.cpu_ms},
        {"memory_bytes", &order->limits.memory_bytes},
        {"samples_max", &order->samples_max},
        {"probe_bytes", &order->probe_bytes},
        {"damaged_packets_max", &order->damaged_packets_max},
        {"alive_every_ms", &order->alive_every_ms},
        {"channel", &order->channel},
    };
    const int expected = sizeof arguments / sizeof *arguments;
    if (count != expected + 2)
        return false;
    order->inspects = strcmp(texts[1], "inspect") == 0;
    if (!order->inspects && strcmp(texts[1], "decode") != 0)
        return false;
    for (int i = 2; i < count; i++)
        if (!read_argument(texts[i], arguments, expected))
            return false;
    return true;
}

int main(int count, char **texts)
{
    // Disables the log of FFmpeg, because its messages contain content of the file.
    av_log_set_level(AV_LOG_QUIET);
    if (count == 2 && strcmp(texts[1], "version") == 0)
        return print_version();
    Order order = {0};
    if (!read_order(&order, count, texts)) {
        fputs("the order is not one of this version\n", stderr);
        return 2;
    }
    confine(&order.limits);
    send_begin();
    Source source;
    const char *refusal = source_open(&source, &order, 0);
    if (refusal)
        refuse(refusal);
    limit_cpu(order.limits.cpu_ms, order.limits.cpu_ms);
    if (order.inspects)
        inspect_source(&source, &order);
    decode_source(&source, &order);
}
