// The names of a network's nodes in its module: which node each step of the plan computes. They are for people; nothing
// depends on them, and servers do not read them.
#pragma once

#include "base/status.h"
#include "module/module_file.h"

#include <span>
#include <string>
#include <vector>

namespace ferry {

// Returns the text for ModuleFile::nodes. Names are made printable, and those above kMaxNameBytes end in "...".
std::string step_nodes_text(std::span<const std::string> nodes);
// Returns a name for each step of the plan of the module's only function; none if the module has none. Fails with
// invalid_argument unless the text is as MODULE.md says.
Result<std::vector<std::string>> step_nodes(const ModuleFile& module);

}  // namespace ferry
