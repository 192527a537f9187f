// Functions that come with a preparation (MODULE.md): what they want computed of constant arguments once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rpc/abi/manifest.h"
#include "rpc/base/status.h"

namespace ferry {

// Of the function that prepares for the one of this name. Nobody else's name holds a colon.
std::string preparation_name(const std::string& function);

// A function as callers see it.
struct CallersFunction {
  FunctionInfo info;  // without the parameters that the preparation makes
  std::optional<FunctionInfo> preparation;
  std::size_t index = 0, preparation_index = 0;  // in the manifest
};

// All but the preparations, in the manifest's order. invalid_argument when a preparation does not fit its function.
Result<std::vector<CallersFunction>> callers_functions(const Manifest& manifest);

}  // namespace ferry
