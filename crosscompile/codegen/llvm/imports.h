// What compiled code still needs from the device.
#pragma once

#include "crosscompile/target/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace ferry::codegen {

// Whether rpc/abi/symbols.def has it for this architecture.
bool is_offered(std::string_view symbol, const std::string& arch);

// Throws InternalError that names a function the object calls and devices do not offer: better here than when the
// module is loaded. `known`: C functions that are linked in later.
void check_imports(const std::string& object, const Target& target, const std::vector<std::string>& known);

}  // namespace ferry::codegen
