// Limits that the process sets on itself before it reads the file.

#ifndef STENO_CONFINE_H
#define STENO_CONFINE_H

#include <stdint.h>

typedef struct Confinement {
    // The process id of the server. This process ends when the server ends.
    int64_t parent;
    // The nice value of this process: the higher it is, the less CPU time the process gets while others need it.
    int64_t priority;
    // `open_cpu_ms` is the limit of CPU time until the file is open, and `cpu_ms` is the limit for the whole process.
    int64_t open_cpu_ms;
    int64_t cpu_ms;
    int64_t memory_bytes;
} Confinement;

void confine(const Confinement *limits);
void limit_cpu(int64_t soft_ms, int64_t cpu_ms);

// Ends the process because of an error of this program or of the machine, not of the file.
_Noreturn void fail(const char *reason);

#endif
