#include "crosscompile/backend/c/c_backend.h"

#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/pipeline.h"

namespace ferry {

void CBackend::check_supports_modules() const {
  throw CompileError("expected a target that modules are made for, got '" + target_.text +
                     "': 'ferry compile --target " + target_.arch_name + "' writes a text");
}

ModuleImages CBackend::images(const ModuleFunctions&) const {
  throw InternalError("images() of a target that no modules are made for");
}

std::vector<std::uint8_t> CBackend::object(std::span<const ir::Function>, std::span<const std::uint8_t>) const {
  refuse_object(target_);
}

std::string CBackend::text(TextForm, std::span<const ir::Function> lowered, const passes::AfterPass& after) const {
  return codegen::emit_source(passes::run_pipeline(lowered, target_, after), target_, codegen::source::Language::c);
}

}  // namespace ferry
