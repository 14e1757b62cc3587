// The parts of the program `checks`. The tests run it; steno does not carry it.

#ifndef STENO_CHECKS_H
#define STENO_CHECKS_H

#include <sys/types.h>

int check_escape(pid_t parent, const char *folder, int port);

#endif
