// The parts of the program `checks`. Only the tests run this program; the steno binary does not contain it.

#ifndef STENO_CHECKS_H
#define STENO_CHECKS_H

#include <sys/types.h>

int check_escape(pid_t parent, const char *folder, int port);

#endif
