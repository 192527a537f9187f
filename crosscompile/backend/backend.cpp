#include "crosscompile/backend/backend.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/pipeline.h"

namespace ferry {

std::vector<ir::Function> finished(std::span<const ir::Function> lowered, const Target& target) {
  std::vector<ir::Function> functions;
  for (const ir::Function& function : lowered) functions.push_back(passes::run_pipeline(function, target));
  return functions;
}

void refuse_object(const Target& target) {
  throw CompileError("expected a target with machine code, got '" + target.text + "'");
}

}  // namespace ferry
