// Guards of reads that stay inside their tensors anyway.
#pragma once

#include "ferry/lang/tensor.h"

#include <unordered_set>

namespace ferry::lang {

// Replaces each if_then_else whose reads are all in `safe` by a select, which vectorises better.
Expr without_needless_guards(const Expr& value, const std::unordered_set<const ir::ExprNode*>& safe);

}  // namespace ferry::lang
