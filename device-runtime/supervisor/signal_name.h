// The name that a person knows a signal by.
#pragma once

#include <string>

namespace ferry::device {

// "SIGSEGV"; "signal 42" for those that have no name here.
std::string signal_name(int number);

}  // namespace ferry::device
