// printf into a std::string. iostreams would triple the size of the device runtime.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>

namespace ferry {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);
std::string vformat(const char* pattern, va_list arguments);

// Returns the count with thousands separators: "262,144".
std::string count_text(std::uint64_t count);

}  // namespace ferry
