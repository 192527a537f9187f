// CPUs: machine code by LLVM, linked by lld into what devices load.
#pragma once

#include "crosscompile/backend/backend.h"

namespace ferry {

class NativeBackend final : public Backend {
 public:
  explicit NativeBackend(const Target& target) : target_(target) {}

  void check_supports_modules() const override;
  Status supports(const ir::Function&) const override { return {}; }
  Target pipeline_target() const override { return target_; }
  std::optional<Plan> plan_of(const ir::Function&) const override { return std::nullopt; }
  ModuleImages images(const ModuleFunctions& functions) const override;
  std::vector<std::uint8_t> object(std::span<const ir::Function> after_passes,
                                   std::span<const std::uint8_t> description) const override;
  bool has_text(TextForm form) const override { return form == TextForm::llvm || form == TextForm::assembly; }
  std::string text(TextForm form, std::span<const ir::Function> lowered, const passes::AfterPass& after) const override;
  const char* source_extension() const override { return ""; }

 private:
  Target target_;
};

// Returns the .ferry file of an object that compile_object() made, and nothing for any other object. Throws
// CompileError when the description does not match the contents. The form is linked or relinkable.
std::optional<std::vector<std::uint8_t>> module_of_object(std::span<const std::uint8_t> object, const std::string& name,
                                                          CodeForm form = CodeForm::linked);

}  // namespace ferry
