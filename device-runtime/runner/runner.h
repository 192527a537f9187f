// The process in which a measured kernel runs. It holds the kernel's code and its tensors and can do nothing but
// compute and stop: no clock of its own counts, and no samples, keys or other tensors are in it.
#pragma once

#include <cstdint>

namespace ferry::device {

// From now on this thread, and those that it starts, run on this core; -1: wherever they may.
void stay_on(std::int32_t core);

// Receives its task (RunnerTask) on the socket, loads the module, answers (RunnerReady), and then runs the calls of
// each window (RunnerPage) until it is killed.
[[noreturn]] void run_runner(int socket);

}  // namespace ferry::device
