#include "host/compiler/api/compiler.h"

#include <algorithm>
#include <array>

#include "ferry/error.h"
#include "module/module_file.h"

namespace ferry {

const Compiler& expect_compiler(const Compiler* compiler, const std::string& what) {
  if (compiler != nullptr) return *compiler;
  throw UsageError(
      what +
      " needs a compiler, which this ferry is built without: compile kernels to .ferry modules with a whole "
      "ferry (ferry compile K.tc -o K.ferry --target ...), and run those here");
}

bool can_relink(std::span<const std::uint8_t> module) {
  const Result<ModuleFile> file = read_module(module);
  return file.is_ok() && std::ranges::any_of(file.value().images, [](const CodeImage& image) {
           return image.kind == ImageKind::elf_objects;
         });
}

bool is_network(const std::string& file) { return file.ends_with(".onnx"); }

bool is_foreign(const std::string& file) {
  constexpr std::array kEndings = {".c", ".cc", ".cpp", ".cxx", ".C", ".ll", ".bc", ".s", ".S", ".o", ".so", ".cu"};
  return std::ranges::any_of(kEndings, [&](const char* ending) { return file.ends_with(ending); });
}

bool is_cuda_source(const std::string& file) { return file.ends_with(".cu"); }

}  // namespace ferry
