// The checks that manifests and plans share. `where` names the part that is checked; empty: the manifest.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "module/manifest.h"

namespace ferry::manifest_check {

Status refuse(const std::string& where, const std::string& reason);
Status check_count(const std::string& where, const char* what, std::size_t count, std::size_t most);
// Names are shown to people, so they must not contain control characters or invisible ones.
Status check_name(const std::string& where, const char* what, const std::string& name);
Status check_expr(const std::string& where, const char* what, const ManifestExpr& expr, std::size_t symbol_count);

// Finds the symbols that the shapes of constants determine: an init plan knows no others.
std::vector<bool> symbols_of_constants(const FunctionInfo& function);
// Checks the plans and the persistent buffers of a function whose parameters and symbols have been checked.
Status check_plans(const Manifest& manifest, const FunctionInfo& function);

}  // namespace ferry::manifest_check
