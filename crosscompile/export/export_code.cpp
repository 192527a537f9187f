#include "crosscompile/export/export_code.h"

#include "crosscompile/codegen/llvm/plan/emit_plan.h"
#include "crosscompile/codegen/llvm/plan/weights.h"
#include "crosscompile/export/c_text.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/link.h"
#include "crosscompile/link/relocatable.h"
#include "module/module_file.h"

namespace ferry::exported {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// Every value is the machine's, since the code of all targets is little-endian.
Bytes read_weights(const Manifest& manifest, const BlobSource* blobs) {
  const std::vector<std::uint64_t> places = codegen::blob_places(manifest);
  Bytes weights(static_cast<std::size_t>(places.back()));
  for (std::size_t i = 0; i < manifest.blobs.size(); ++i) {
    const Blob& blob = manifest.blobs[i];
    if (blobs == nullptr || !blobs->has(blob.hash)) throw InternalError("the contents of weights are missing");
    blobs->read(blob.hash, 0,
                std::span(weights).subspan(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(blob.bytes)));
  }
  return weights;
}

ModuleFile read_relocatable(std::span<const std::uint8_t> bytes) {
  Result<ModuleFile> read = read_module(bytes);
  if (!read.is_ok()) throw InternalError("the module to export: " + read.status().message());
  ModuleFile module = std::move(read.value());
  if (module.images.size() != 1 || module.images.front().kind != ImageKind::elf_object)
    throw InternalError("expected relocatable code to export");
  if (module.manifest.functions.size() != 1) throw CompileError("expected one function to export");
  return module;
}

}  // namespace

std::vector<File> export_code(std::span<const std::uint8_t> bytes, const BlobSource* blobs, const Target& target,
                              const Options& options) {
  ModuleFile module = read_relocatable(bytes);
  const FunctionInfo& function = module.manifest.functions.front();
  const Bytes weights = read_weights(module.manifest, blobs);
  const bool weights_file = options.weights_file && !weights.empty();
  const codegen::CInterface interface =
      codegen::c_interface(function, options.name.empty() ? function.name : options.name, weights_file);
  const Bytes plan = codegen::emit_plan({module.manifest, interface, weights}, target);
  const std::vector<Bytes> parts{std::move(module.images.front().bytes), plan};
  const std::vector<std::string> symbols = codegen::exported_symbols(interface);
  std::vector<link::ArchiveMember> math;
  for (auto& [called, code] : codegen::emit_math(target)) math.push_back({called + ".o", std::move(code)});
  Bytes object = link::keep_global(link::link_relocatable(parts, link::archive(math)), symbols);
  Bytes threads = link::keep_global(codegen::emit_threads(interface, target), codegen::thread_symbols(interface));

  const std::string& name = interface.name;
  std::vector<File> files;
  std::string library;
  switch (options.form) {
    case Form::object:
      library = name + ".o";
      files.push_back({library, std::move(object)});
      files.push_back({name + "_threads.o", std::move(threads)});
      break;
    case Form::archive: {
      library = "lib" + name + ".a";
      const std::vector<link::ArchiveMember> members{{name + ".o", std::move(object)},
                                                     {name + "_threads.o", std::move(threads)}};
      files.push_back({library, link::archive(members)});
      break;
    }
    case Form::shared: {
      library = "lib" + name + ".so";
      std::vector<std::string> all = symbols;
      for (const std::string& symbol : codegen::thread_symbols(interface)) all.push_back(symbol);
      files.push_back({library, link::link_shared(object, target, all, std::span(&threads, 1))});
      break;
    }
  }
  if (weights_file) files.push_back({name + ".weights", weights});
  const CodeFacts facts{function, interface, target.text, weights.size()};
  files.push_back({name + ".h", bytes_of(header_text(facts))});
  files.push_back({example_file(interface), bytes_of(example_text(facts, options.sizes))});
  files.push_back({"Makefile", bytes_of(makefile_text(interface, library))});
  return files;
}

}  // namespace ferry::exported
