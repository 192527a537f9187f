#include <vector>

#include "device-runtime/loader/debug_image.h"
#include "device-runtime/loader/elf_image.h"
#include "module/manifest_codec.h"
#include "module/module_file.h"
#include "tests/fuzz/inputs/targets.h"

namespace ferry::fuzz {
namespace {

void evaluate_all(const Manifest& manifest) {
  for (const FunctionInfo& function : manifest.functions) {
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{7}, INT64_MAX, INT64_MIN}) {
      const std::vector<std::int64_t> symbols(function.symbols.size(), value);
      const auto use = [&](const ManifestExpr& expression) {
        (void)evaluate(expression, symbols);
        (void)to_text(expression, function.symbols);
      };
      for (std::size_t v = 0; v < function.plan.values.size(); ++v) {
        (void)value_text(function, static_cast<ValueIndex>(symbols.size() + v));
      }
      for (const Step& step : function.plan.steps) (void)step_text(function, step);
      for (const ParameterInfo& parameter : function.parameters) {
        for (const ManifestExpr& extent : parameter.shape) use(extent);
        for (const ManifestExpr& stride : parameter.strides) use(stride);
      }
    }
  }
}

}  // namespace

void fuzz_manifest(Input input) {
  if (const auto module = read_module(input); module.is_ok()) evaluate_all(module.value().manifest);
  const auto manifest = decode_manifest(input);
  if (manifest.is_ok() && check_manifest(manifest.value()).is_ok()) evaluate_all(manifest.value());
  // Interpret the same bytes as an expression alone.
  ManifestExpr expression;
  for (std::size_t i = 0; i + 2 <= input.size(); i += 2) {
    expression.code.push_back({static_cast<ManifestOp>(input[i]), static_cast<std::int8_t>(input[i + 1])});
  }
  const std::vector<std::int64_t> symbols = {1, -1, INT64_MAX};
  const std::vector<std::string> names = {"a", "b", "c"};
  if (check_manifest_expr(expression, symbols.size()).is_ok()) {
    (void)evaluate(expression, symbols);
    (void)to_text(expression, names);
  }
}

void fuzz_elf(Input input) {
  const auto image = device::ElfImage::load(input);
  if (image.is_ok()) (void)image.value().function("f");
  const auto debug = device::make_debug_image(input, 0x10000);
  std::uintptr_t total = 0;
  device::for_each_function(debug, [&](const char* name, std::uintptr_t address, std::uint64_t bytes) {
    total += address + bytes + static_cast<unsigned char>(*name);
  });
  if (total == 0x5eed) __builtin_trap();
}

}  // namespace ferry::fuzz
