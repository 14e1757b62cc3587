// Sends messages to the server through stdout. Each message has four parts: a mark (two fixed bytes), a kind, the
// length of the body, and the body. The numbers are big-endian (src/media/wire.ts).

#include "media.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MARK = 0x5354, HEADER_BYTES = 8 };
enum { KIND_SAMPLES = 1, KIND_ALIVE = 2, KIND_END = 3, KIND_BEGIN = 4 };

// Writes all bytes to stdout. While the pipe is full, this function waits, so a slow server slows down the decoder.
static void write_all(const uint8_t *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        // The server has closed the pipe, so no process reads the result.
        if (written <= 0)
            _exit(1);
        bytes += written;
        length -= (size_t)written;
    }
}

static void send_message(int kind, const void *body, size_t length)
{
    uint8_t message[HEADER_BYTES + BODY_BYTES_MAX] = {
        MARK >> 8,         MARK & 0xff,       0, (uint8_t)kind, (uint8_t)(length >> 24), (uint8_t)(length >> 16),
        (uint8_t)(length >> 8), (uint8_t)length,
    };
    if (length > 0)
        memcpy(message + HEADER_BYTES, body, length);
    write_all(message, HEADER_BYTES + length);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// Sends the first message: it names the version of the protocol.
void send_begin(void)
{
    char body[16];
    int length = snprintf(body, sizeof body, "%d", PROTOCOL_VERSION);
    send_message(KIND_BEGIN, body, (size_t)length);
}

// Sends the last message and ends the process. The operating system then frees the memory.
static _Noreturn void end_with(const char *name, const char *value)
{
    char body[512];
    int length = snprintf(body, sizeof body, "{\"%s\":%s}", name, value);
    send_message(KIND_END, body, (size_t)length);
    _exit(0);
}

void send_result(const char *json)
{
    end_with("done", json);
}

// Ends the process because the file cannot be used. The server has a message for each reason (src/media/refusals.ts).
void refuse(const char *reason)
{
    char value[64];
    snprintf(value, sizeof value, "\"%s\"", reason);
    end_with("refused", value);
}

void fail(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    _exit(3);
}

static void send_now(Output *output, int kind, size_t length)
{
    send_message(kind, output->waiting, length);
    output->sent_at_ms = now_ms();
}

// Adds samples to the buffer, and sends the buffer each time when it is full.
void output_write(Output *output, const float *samples, int64_t count)
{
    const size_t room = sizeof output->waiting / sizeof *output->waiting;
    output->written += count;
    if (output->written > output->samples_max)
        refuse("too-long");
    for (size_t left = (size_t)count; left > 0;) {
        size_t part = left < room - output->filled ? left : room - output->filled;
        memcpy(output->waiting + output->filled, samples, part * sizeof *samples);
        output->filled += part;
        samples += part;
        left -= part;
        if (output->filled == room)
            output_flush(output);
    }
}

void output_silence(Output *output, int64_t count)
{
    static const float silence[4096];
    const int64_t most = sizeof silence / sizeof *silence;
    for (int64_t left = count; left > 0; left -= most)
        output_write(output, silence, left < most ? left : most);
}

// Sends a message without content if the last message is too old. Reading a part of the file without sound may take
// long, and without any message the server would kill this process.
void output_keep_alive(Output *output)
{
    if (now_ms() - output->sent_at_ms > output->alive_every_ms)
        send_now(output, KIND_ALIVE, 0);
}

void output_flush(Output *output)
{
    if (output->filled > 0)
        send_now(output, KIND_SAMPLES, output->filled * sizeof *output->waiting);
    output->filled = 0;
}
