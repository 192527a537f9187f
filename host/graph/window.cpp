#include "host/graph/window.h"

namespace ferry::graph {

Size window_count(const NodeCheck& check, const Size& size, const WindowAttributes& window, bool ceil) {
  check.expect(window.kernel > 0 && window.stride > 0 && window.dilation > 0,
               "positive kernel sizes, strides, dilations", [&] {
                 return std::to_string(window.kernel) + ", " + std::to_string(window.stride) + ", " +
                        std::to_string(window.dilation);
               });
  const Size extent = Size(window.dilation) * (window.kernel - 1) + 1;
  const Size padded = size + window.pad_before + window.pad_after;
  // Rounded up, the last window exceeds the padded input by less than a stride.
  const Size room = padded - extent + (ceil ? window.stride - 1 : 0);
  check.expect(!proves_less(room, 0), "a window that fits the padded input",
               [&] { return to_text(extent) + " for " + to_text(padded); });
  const Size count = floor_divide(room, window.stride) + 1;
  if (!ceil) return count;
  return min(count, floor_divide(size + (window.pad_before - 1), window.stride) + 1);
}

}  // namespace ferry::graph
