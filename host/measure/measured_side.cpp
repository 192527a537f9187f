#include "host/measure/measured_side.h"

#include "host/measure/code_layout.h"

namespace ferry::bench {

CompiledModule linked_module(const RunSettings& settings, const MeasuredSide& side, std::uint32_t layout) {
  if (layouts_of(side.module) == 1) return side.module;
  return module_in_layout(expect_compiler(settings.compiler, side.info.name), side.module, layout);
}

}  // namespace ferry::bench
