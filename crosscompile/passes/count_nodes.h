// How large a piece of IR is, which bounds what passes that copy code may add.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <cstddef>

namespace ferry::passes {

std::size_t count_nodes(const ir::Stmt& stmt);

}  // namespace ferry::passes
