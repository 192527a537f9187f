#include "ferry/expr.h"

namespace ferry::ir {

std::string to_text(Type type) {
  std::string text = dtype_name(type.code);
  if (type.lanes != 1) text += "x" + std::to_string(type.lanes);
  return text;
}

}  // namespace ferry::ir
