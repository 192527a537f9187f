// The names of symbols as their source has them.
#pragma once

#include <string>

namespace ferry::ptx {

// Returns the symbol itself where C++ does not mangle it.
std::string demangled(const std::string& symbol);

}  // namespace ferry::ptx
