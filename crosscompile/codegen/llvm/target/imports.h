// Finds what compiled code requires from the device.
#pragma once

#include "ferry/target/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace ferry::codegen {

// Returns whether module/symbols.def lists the symbol for this architecture.
bool is_offered(std::string_view symbol, const std::string& arch);

// Throws InternalError with the name of a function that the object calls and devices do not offer, since loading the
// module would only fail later. `known`: C functions that are linked in later.
void check_object_imports(const std::string& object, const Target& target, const std::vector<std::string>& known);

}  // namespace ferry::codegen
