// Names of signals.
#pragma once

#include <string>

namespace ferry::device {

// Returns "SIGSEGV", or "signal 42" for signals that are not listed.
std::string signal_name(int number);

}  // namespace ferry::device
