// printf into a std::string: sentences for people without iostreams, which would triple the size of the device runtime.
#pragma once

#include <string>

namespace ferry {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace ferry
