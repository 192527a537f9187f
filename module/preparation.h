// Functions with a preparation (MODULE.md): a function that computes values from constant arguments once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "module/manifest.h"

namespace ferry {

// Returns the name of the preparation of the function with this name. No other function's name contains a colon.
std::string preparation_name(const std::string& function);

// A function as callers see it.
struct CallersFunction {
  FunctionInfo info;  // without the parameters that the preparation computes
  std::optional<FunctionInfo> preparation;
  std::size_t index = 0, preparation_index = 0;  // in the manifest
};

// Returns all functions except preparations, in the manifest's order; fails with invalid_argument if a preparation does
// not fit its function.
Result<std::vector<CallersFunction>> callers_functions(const Manifest& manifest);

}  // namespace ferry
