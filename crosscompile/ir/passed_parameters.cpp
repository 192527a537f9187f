#include "crosscompile/ir/passed_parameters.h"

#include "crosscompile/ir/uses.h"

#include <algorithm>

namespace ferry::ir {

std::vector<bool> passed_parameters(const Function& function) {
  const std::vector<BufferRef> used = used_buffers(function.body);
  std::vector<bool> passed;
  for (const FunctionParameter& parameter : function.parameters)
    passed.push_back(!parameter.constant || std::ranges::find(used, parameter.buffer) != used.end());
  return passed;
}

}  // namespace ferry::ir
