// CUDA: CUDA C that NVRTC compiles to cubins, and PTX that LLVM generates.
#pragma once

#include "crosscompile/backend/backend.h"

#include <mutex>

namespace ferry {

// A module has one cubin per architecture that the target names, made by NVRTC, and PTX for the first one, made by
// LLVM, for GPUs that no cubin fits. Architectures that NVRTC does not know get PTX instead of a cubin, and so do all
// of them where NVRTC is missing or with -compiler=llvm. With -compiler=nvrtc there are cubins only.
class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const Target& target) : target_(target) {}

  void check_supports_modules() const override {}
  // Returns the target itself or, where LLVM alone generates the code, PTX of the first GPU, so that the plan matches
  // LLVM's kernels.
  Status supports(const ir::Function& lowered) const override;
  Target pipeline_target() const override;
  std::optional<Plan> plan_of(const ir::Function& after_passes) const override;
  ModuleImages images(const ModuleFunctions& functions) const override;
  std::vector<std::uint8_t> object(std::span<const ir::Function> after_passes,
                                   std::span<const std::uint8_t> description) const override;
  bool has_text(TextForm form) const override;
  std::string text(TextForm form, std::span<const ir::Function> lowered, const passes::AfterPass& after) const override;
  const char* source_extension() const override { return ".cu"; }

 private:
  // Returns for each GPU of the target whether LLVM compiles for it: when -compiler=llvm asks for it or, if no compiler
  // is named, when NVRTC is missing or does not know the GPU. Only the first call loads NVRTC: texts do without.
  const std::vector<bool>& by_llvm() const;

  Target target_;
  mutable std::once_flag is_decided_;
  mutable std::vector<bool> by_llvm_;
};

}  // namespace ferry
