// printf into a std::string: sentences for people without iostreams, which would triple the size of the device runtime.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>

namespace ferry {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);
std::string vformat(const char* pattern, va_list arguments);

// "262,144"
std::string count_text(std::uint64_t count);

}  // namespace ferry
