// Which stages have no loops of their own by default.
#pragma once

#include "host/lang/program.h"

#include <unordered_set>

namespace ferry::schedule {

// Stages that only move elements, and element-wise stages whose every element is used at most once. Never outputs or
// reductions.
std::unordered_set<const lang::Stage*> stages_to_inline(const lang::Program& program);

}  // namespace ferry::schedule
