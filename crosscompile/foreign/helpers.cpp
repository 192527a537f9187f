#include "crosscompile/foreign/helpers.h"

#include <algorithm>

#include "crosscompile/foreign/c_compiler.h"
#include "crosscompile/link/temporary_folder.h"

namespace ferry::foreign {

std::vector<std::vector<std::uint8_t>> helper_objects(std::span<const std::string> symbols, const Target& target) {
  std::vector<std::vector<std::uint8_t>> objects;
  for (const HelperFile& helpers : helper_files()) {
    const auto defines = [&](const std::string& symbol) { return std::ranges::count(helpers.symbols, symbol) > 0; };
    if (std::ranges::none_of(symbols, defines)) continue;
    const link::TemporaryFolder folder;
    const std::string file = folder.file(helpers.name);
    link::write_file(file, helpers.text);
    // Debug information would name the folder, which is another one each time.
    objects.push_back(compile_object(file, {"-std=c11", "-g0", "-w"}, target));
  }
  return objects;
}

std::string purpose_of(const std::string& symbol) {
  if (!symbol.starts_with("__")) return {};
  if (symbol.starts_with("__aarch64_"))
    return "an atomic operation, which -mno-outline-atomics compiles to instructions";
  if (symbol.starts_with("__atomic_") || symbol.starts_with("__sync_"))
    return "an atomic operation that the processor has no instruction for";
  if (symbol.find("tf") != std::string::npos) return "128-bit floats, such as long double";
  if (symbol.find("xf") != std::string::npos || symbol.find("xc") != std::string::npos) return "long double";
  if (symbol.find("tc") != std::string::npos) return "complex numbers in long double";
  return {};
}

}  // namespace ferry::foreign
