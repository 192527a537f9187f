// Shows on the terminal what a service does.
#pragma once

#include "ferry/kernel/observer.h"

namespace ferry::cli {

// Prints messages on standard error and steps as a progress line. Compilation of one kernel ends the process after
// `compile_deadline` seconds; 0: no limit.
Observer terminal(double compile_deadline = 0);

}  // namespace ferry::cli
