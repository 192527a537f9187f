#include "host/measure/code_layout.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace ferry::bench {

namespace {

constexpr std::uint32_t kLines = kLayoutPage / kDataStep;
static_assert(kLines == kLayouts);

// Mirrors the six bits of the number: van der Corput's sequence, 0, 32, 16, 48, 8, ...
constexpr std::uint32_t mirrored(std::uint32_t number) {
  std::uint32_t result = 0;
  for (std::uint32_t bit = 1; bit < kLines; bit *= 2) result = result * 2 + (number / bit) % 2;
  return result;
}

// Steps by the golden ratio of 64 lines: 0, 39, 14, 53, 28, ... Odd steps reach every line.
constexpr std::uint32_t golden(std::uint32_t number) { return number * 39 % kLines; }

class BlobsOf final : public BlobSource {
 public:
  explicit BlobsOf(CompiledModule module) : module_(std::move(module)) {}
  bool has(const Hash& blob) const override { return module_.blobs()->has(blob); }
  void read(const Hash& blob, std::uint64_t offset, std::span<std::uint8_t> into) const override {
    module_.blobs()->read(blob, offset, into);
  }

 private:
  CompiledModule module_;
};

}  // namespace

CodeLayout layout_of(std::uint32_t number) {
  if (number >= kLayouts)
    throw std::out_of_range("expected a layout below " + std::to_string(kLayouts) + ", got " + std::to_string(number));
  constexpr std::uint32_t kSteps = kDataStep / kCodeStep;
  const std::uint32_t step = (number + number / kSteps + number / (kSteps * kSteps)) % kSteps;
  return {mirrored(number) * kDataStep + step * kCodeStep, golden(number) * kDataStep};
}

std::uint32_t layouts_of(const CompiledModule& module) { return can_relink(module.bytes()) ? kLayouts : 1; }

CompiledModule module_in_layout(const Compiler* compiler, const CompiledModule& module, std::uint32_t number) {
  const CodeLayout layout = layout_of(number);
  if (layouts_of(module) == 1) return module;
  return CompiledModule(expect_compiler(compiler, "relinkable code").link_module(module.bytes(), layout),
                        module.blobs() == nullptr ? nullptr : std::make_shared<BlobsOf>(module));
}

}  // namespace ferry::bench
