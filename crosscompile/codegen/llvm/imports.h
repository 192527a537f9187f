// What compiled code still needs from the device.
#pragma once

#include "crosscompile/target/target.h"

#include <string>

namespace ferry::codegen {

// Throws InternalError that names a function the object calls and rpc/abi/symbols.def does not offer on this
// architecture: better here than when the module is loaded.
void check_imports(const std::string& object, const Target& target);

}  // namespace ferry::codegen
