#include "crosscompile/foreign/foreign.h"

#include <algorithm>

#include "base/suggest.h"
#include "crosscompile/codegen/llvm/target/adapter.h"
#include "crosscompile/codegen/llvm/target/imports.h"
#include "crosscompile/foreign/c_compiler.h"
#include "crosscompile/foreign/c_function.h"
#include "crosscompile/foreign/cuda_compiler.h"
#include "crosscompile/foreign/cuda_kernel.h"
#include "crosscompile/foreign/helpers.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/inspect_object.h"
#include "crosscompile/link/link.h"
#include "crosscompile/link/object_set.h"
#include "crosscompile/link/symbol_use.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/target/needed_features.h"
#include "ferry/runtime_api.h"
#include "module/kernel_symbol.h"
#include "module/module_file.h"

namespace ferry::foreign {
namespace {

void check_object(const link::ObjectFacts& facts, const ForeignKernel& kernel) {
  if (facts.is_shared && !facts.has_hash) {
    throw CompileError(kernel.file + ": expected a table of symbols that devices read: link it with --hash-style=both");
  }
  if (!facts.refused.empty()) {
    throw CompileError(kernel.file + " has what devices do not load: " + joined(facts.refused));
  }
}

// Returns "puts (f.c:3)", "__addtf3 (f.c:7: 128-bit floats, such as long double)".
std::string use_text(const std::string& symbol, std::span<const std::uint8_t> object) {
  const std::string place = link::first_use(object, symbol), purpose = purpose_of(symbol);
  const std::string both = place + (place.empty() || purpose.empty() ? "" : ": ") + purpose;
  return both.empty() ? symbol : symbol + " (" + both + ")";
}

void check_image_imports(std::span<const std::uint8_t> image, std::span<const std::uint8_t> object,
                         const ForeignKernel& kernel, const Target& target) {
  std::vector<std::string> missing;
  for (const std::string& name : link::imports_of(image)) {
    if (!codegen::is_offered(name, target.arch_name)) missing.push_back(use_text(name, object));
  }
  if (missing.empty()) return;
  throw CompileError(kernel.file + " calls what devices do not offer on " + target.arch_name + ": " + joined(missing) +
                     "; they offer the functions of <math.h> and memcpy, memmove, memset, memcmp");
}

// Returns the object, and what it needs beside it.
std::vector<std::vector<std::uint8_t>> with_helpers(const std::vector<std::uint8_t>& object,
                                                    const link::ObjectFacts& facts, const Target& target) {
  std::vector<std::string> needed;
  for (const std::string& name : facts.undefined)
    if (!codegen::is_offered(name, target.arch_name)) needed.push_back(name);
  std::vector<std::vector<std::uint8_t>> objects = helper_objects(needed, target);
  objects.insert(objects.begin(), object);
  return objects;
}

}  // namespace

std::vector<std::uint8_t> compile_foreign(const ForeignKernel& kernel, const Target& target, CodeForm form) {
  if (is_cuda(kernel.file)) return compile_cuda_kernel(kernel, target);
  if (target.is_source) {
    throw CompileError("expected a target that modules are made for, got '" + target.text + "', for " + kernel.file);
  }
  check_has_server(target);
  ModuleFile module;
  module.manifest.abi_version = FERRY_ABI_VERSION;
  module.manifest.devices = {{"cpu", target.arch_name, needed_features(target)}};
  module.manifest.target = target.text;
  for (const Signature& signature : kernel.signatures) module.manifest.functions.push_back(signature.function);
  if (const Status status = check_manifest(module.manifest); !status.is_ok()) {
    throw CompileError("signature: " + status.message());
  }
  const std::vector<std::uint8_t> object =
      is_compiled(kernel.file) ? compile_object(kernel.file, kernel.flags, target) : link::read_file(kernel.file);
  const link::ObjectFacts facts = link::inspect_object(object, kernel.file, target);
  check_object(facts, kernel);
  std::vector<std::string> exports;
  std::vector<std::vector<std::uint8_t>> adapters, code;
  const std::vector<std::uint8_t> declarations = declarations_of(kernel, target);
  for (const Signature& signature : kernel.signatures) {
    const std::string c_name = find_function(facts, kernel, signature);
    check_declaration(declarations, kernel, signature, c_name);
    exports.push_back(kSymbolPrefix + signature.function.name);
    adapters.push_back(codegen::emit_adapter(signature.function, signature.passed, c_name, signature.returns_status,
                                             facts.is_shared, target));
  }
  if (!facts.is_shared) code = with_helpers(object, facts, target);
  module.images.push_back({ImageKind::elf, link::link_shared(adapters, target, exports, code), 0});
  // A shared object is shipped unchanged; the device loads it first and resolves the adapters' calls in it.
  if (facts.is_shared) module.images.push_back({ImageKind::elf_library, object, 0});
  check_image_imports(module.images.back().bytes, object, kernel, target);
  if (form == CodeForm::relinkable && !facts.is_shared)
    module.images = {{ImageKind::elf_objects, link::pack({std::move(adapters), std::move(code)}), 0}};
  module.source = kernel.source;
  return write_module(module);
}

}  // namespace ferry::foreign
