// C source for any C11 compiler. There is nothing that a device could load.
#pragma once

#include "crosscompile/backend/backend.h"

namespace ferry {

class CBackend final : public Backend {
 public:
  explicit CBackend(const Target& target) : target_(target) {}

  void check_supports_modules() const override;
  Status supports(const ir::Function&) const override { return {}; }
  Target pipeline_target() const override { return target_; }
  std::optional<Plan> plan_of(const ir::Function&) const override { return std::nullopt; }
  ModuleImages images(const ModuleFunctions& functions) const override;
  std::vector<std::uint8_t> object(std::span<const ir::Function> after_passes,
                                   std::span<const std::uint8_t> description) const override;
  bool has_text(TextForm form) const override { return form == TextForm::source; }
  std::string text(TextForm form, std::span<const ir::Function> lowered, const passes::AfterPass& after) const override;
  const char* source_extension() const override { return ".c"; }

 private:
  Target target_;
};

}  // namespace ferry
