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
  const Size room = padded - extent;
  check.expect(!proves_less(room, 0), "a window that fits the padded input",
               [&] { return to_text(extent) + " for " + to_text(padded); });
  if (!ceil) return floor_divide(room, window.stride) + 1;
  const Size rounded_up = floor_divide(room + (window.stride - 1), window.stride) + 1;
  return min(rounded_up, floor_divide(size + (window.pad_before - 1), window.stride) + 1);
}

}  // namespace ferry::graph
