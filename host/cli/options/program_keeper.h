// The process between ferry and a program that runs as a part of a command. If ferry is killed, the program must not go
// on: its boards are somebody else's then. This process ends it, together with what it has started.
#pragma once

#include <sys/types.h>

namespace ferry::cli {

// Asks the keeper to kill the program and what it has started.
inline constexpr int kEndAtOnce = 10;  // SIGUSR1

// Runs the program in a child and exits as it does, with 128 + N after signal N. For a process that was just forked by
// `parent`, which may have other threads. SIGINT, SIGTERM and SIGHUP are passed on, unless the terminal has sent them
// to the program already. Writes the error number to the descriptor if the program cannot be started, and closes it.
[[noreturn]] void keep_program(char* const* arguments, int failure, pid_t parent);

}  // namespace ferry::cli
