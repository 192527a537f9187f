#include "crosscompile/foreign/foreign.h"

#include <algorithm>

#include "crosscompile/codegen/llvm/adapter.h"
#include "crosscompile/codegen/llvm/imports.h"
#include "crosscompile/codegen/llvm/padding.h"
#include "crosscompile/foreign/c_compiler.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/inspect_object.h"
#include "crosscompile/link/link.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/target/needed_features.h"
#include "crosscompile/target/suggest.h"
#include "rpc/abi/module_file.h"
#include "rpc/abi/runtime_api.h"

namespace ferry::foreign {
namespace {

constexpr std::size_t kSuggestions = 3;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void check_object(const link::ObjectFacts& facts, const ForeignKernel& kernel, const Target& target) {
  if (facts.arch != target.arch) {
    throw CompileError(kernel.file + ": expected an object for " + target.arch + ", got one for " + facts.arch);
  }
  if (facts.is_shared && !facts.has_hash) {
    throw CompileError(kernel.file + ": expected a table of symbols that devices read: link it with --hash-style=both");
  }
  if (!facts.refused.empty()) {
    throw CompileError(kernel.file + " has what devices do not load: " + joined(facts.refused));
  }
  const std::string& wanted = kernel.signature.c_name;
  if (std::find(facts.functions.begin(), facts.functions.end(), wanted) != facts.functions.end()) return;
  std::string message = kernel.file + ": expected a function '" + wanted + "', got ";
  if (facts.functions.empty()) {
    message += "none that others may call";
  } else {
    message += joined(nearest_names(wanted, facts.functions, kSuggestions));
    const bool mangled = std::any_of(facts.functions.begin(), facts.functions.end(), [&](const std::string& name) {
      return name.starts_with("_Z") && name.find(wanted) != std::string::npos;
    });
    if (mangled) message += "; in C++, write extern \"C\" before it";
  }
  throw CompileError(message);
}

void check_imports(std::span<const std::uint8_t> image, const ForeignKernel& kernel, const Target& target) {
  std::vector<std::string> missing;
  for (const std::string& name : link::imports_of(image)) {
    if (!codegen::is_offered(name, target.arch)) missing.push_back(name);
  }
  if (missing.empty()) return;
  throw CompileError(kernel.file + " calls what devices do not offer on " + target.arch + ": " + joined(missing) +
                     "; they offer the functions of <math.h> and memcpy, memmove, memset");
}

}  // namespace

bool is_foreign(const std::string& file) { return is_compiled(file) || file.ends_with(".o") || file.ends_with(".so"); }

std::vector<std::uint8_t> compile_foreign(const ForeignKernel& kernel, const Target& target,
                                          std::uint32_t code_padding) {
  if (target.is_source) {
    throw CompileError("expected a target that modules are made for, got '" + target.text + "', for " + kernel.file);
  }
  const FunctionInfo& function = kernel.signature.function;
  ModuleFile module;
  module.manifest.abi_version = FERRY_ABI_VERSION;
  module.manifest.arch = target.arch;
  module.manifest.features = needed_features(target);
  module.manifest.target = target.text;
  module.manifest.functions = {function};
  if (const Status status = check_manifest(module.manifest); !status.is_ok()) {
    throw CompileError("signature: " + status.message());
  }
  const std::vector<std::uint8_t> object =
      is_compiled(kernel.file) ? compile_object(kernel.file, kernel.flags, target) : link::read_file(kernel.file);
  const link::ObjectFacts facts = link::inspect_object(object, kernel.file);
  check_object(facts, kernel, target);
  std::vector<std::string> exports = {function.symbol};
  std::vector<std::uint8_t> padding;
  if (code_padding != 0) {
    padding = codegen::emit_padding(target, code_padding);
    exports.emplace_back(codegen::kPaddingSymbol);
  }
  const std::vector<std::uint8_t> adapter = codegen::emit_adapter(
      function, kernel.signature.c_name, kernel.signature.returns_status, facts.is_shared, target);
  if (facts.is_shared) {
    // It travels as it is; the device loads it first and looks in it for what the adapter calls.
    module.images.push_back({"elf", link::link_shared(adapter, target, exports, {}, padding)});
    module.images.push_back({"elf_library", object});
  } else {
    const std::vector<std::vector<std::uint8_t>> objects = {object};
    module.images.push_back({"elf", link::link_shared(adapter, target, exports, objects, padding)});
  }
  check_imports(module.images.back().bytes, kernel, target);
  module.source = kernel.source;
  return write_module(module);
}

}  // namespace ferry::foreign
