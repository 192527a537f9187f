// Number of positions that a window takes along a dimension.
#pragma once

#include "host/graph/node_check.h"

namespace ferry::graph {

// Throws CompileError for a window that does not fit. With `ceil` the count is rounded up, so that the last window may
// exceed the padded input, but a window never begins in the padding after the input.
Size window_count(const NodeCheck& check, const Size& size, const WindowAttributes& window, bool ceil);

}  // namespace ferry::graph
