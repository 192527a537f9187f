#include "host/gate/run/explain.h"

#include "host/gate/diff/diff_modules.h"
#include "host/measure/code_layout.h"

namespace ferry::gate {

void explain(const Compiler& compiler, const PerSide<MeasuredSide>& sides, CaseResult& result) {
  try {
    const CompiledModule baseline =
        bench::module_in_layout(&compiler, sides[Side::baseline].module, bench::kFirstLayout);
    const CompiledModule current = bench::module_in_layout(&compiler, sides[Side::current].module, bench::kFirstLayout);
    Noted<ModuleDiff> diff = diff_modules(compiler, baseline.bytes(), current.bytes());
    result.diff = std::move(diff.value);
    for (std::string& note : diff.notes) result.warnings.push_back(std::move(note));
  } catch (const Error& error) {
    result.warnings.push_back("the modules could not be compared: " + std::string(error.what()));
  }
}

}  // namespace ferry::gate
