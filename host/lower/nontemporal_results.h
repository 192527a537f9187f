// Marks the buffers of results whose stages ask for nontemporal_stores, for code generation.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/schedule/stages/scheduled_stage.h"

namespace ferry::lower {

// Results that the function also reads are left unchanged: a non-temporal store would force the data back from memory.
void mark_nontemporal_results(ir::Function& function, const schedule::Stages& stages);

}  // namespace ferry::lower
