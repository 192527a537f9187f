// Results whose stages say stream_stores: their buffers ask code generation for it.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/schedule/stages/scheduled_stage.h"

namespace ferry::lower {

// Leaves results that the function also reads as they are: what was just stored would come back from memory.
void stream_results(ir::Function& function, const schedule::Stages& stages);

}  // namespace ferry::lower
