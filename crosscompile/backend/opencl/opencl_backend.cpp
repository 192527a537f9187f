#include "crosscompile/backend/opencl/opencl_backend.h"

#include "crosscompile/backend/launch_plan.h"
#include "crosscompile/codegen/source/source.h"
#include "crosscompile/passes/pipeline.h"

#include <string>

namespace ferry {

Status OpenClBackend::supports(const ir::Function& lowered) const {
  return support_of([&] {
    const ir::Function function = passes::run_pipeline(lowered, target_);
    plan_of(function);
    images({std::span(&lowered, 1), std::span(&function, 1)});
  });
}

std::optional<Plan> OpenClBackend::plan_of(const ir::Function& after_passes) const {
  return launch_plan(after_passes, SharedMemory::in_kernel);
}

ModuleImages OpenClBackend::images(const ModuleFunctions& functions) const {
  const std::string text = codegen::emit_source(functions.after_passes, target_, codegen::source::Language::opencl);
  return {{{ImageKind::opencl_c, {text.begin(), text.end()}, 0}}};
}

std::vector<std::uint8_t> OpenClBackend::object(std::span<const ir::Function>, std::span<const std::uint8_t>) const {
  refuse_object(target_);
}

std::string OpenClBackend::text(TextForm, std::span<const ir::Function> lowered, const passes::AfterPass& after) const {
  return codegen::emit_source(passes::run_pipeline(lowered, target_, after), target_,
                              codegen::source::Language::opencl);
}

}  // namespace ferry
