#include "crosscompile/link/link.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/link/lld.h"
#include "crosscompile/link/padding.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/target/abi.h"

#include <llvm/Object/ELFObjectFile.h>

#include <algorithm>
#include <string_view>

namespace ferry::link {
namespace {

// Lists the exported names and makes everything else local, so that --gc-sections may drop it.
std::string version_script(std::span<const std::string> exports) {
  std::string script = "{\n";
  if (!exports.empty()) script += "global:\n";
  for (const std::string& name : exports) script += "  \"" + name + "\";\n";
  return script + "local: *;\n};\n";
}

// Returns whether there is debug information, which always includes a section of this name.
bool has_debug_information(std::span<const std::uint8_t> object) {
  constexpr std::string_view kName = ".debug_line";
  return std::search(object.begin(), object.end(), kName.begin(), kName.end()) != object.end();
}

}  // namespace

std::vector<std::uint8_t> link_shared(std::span<const std::uint8_t> object, const Target& target,
                                      std::span<const std::string> exports,
                                      std::span<const std::vector<std::uint8_t>> user_objects) {
  const std::vector<std::uint8_t> only(object.begin(), object.end());
  return link_shared(std::span(&only, 1), target, exports, user_objects);
}

std::vector<std::uint8_t> link_shared(std::span<const std::vector<std::uint8_t>> objects, const Target& target,
                                      std::span<const std::string> exports,
                                      std::span<const std::vector<std::uint8_t>> user_objects,
                                      const CodeLayout& layout) {
  const TemporaryFolder folder;
  const std::string script = folder.file("exports");
  const std::string output = folder.file("kernels.so");
  write_file(script, version_script(exports));

  // Segments start on pages of their own whatever page size the board uses; 64 KiB is the largest in use on ARM. In the
  // file they follow each other without gaps.
  const std::string page = "max-page-size=" + std::to_string(abi_of(target).page_bytes);
  std::vector<const char*> arguments = {
      "ld.lld", "-shared", "-Bsymbolic", "--hash-style=both", "--gc-sections", "--build-id=none", "--threads=1",
      // Objects of others must not name files of this machine.
      "--no-dependent-libraries", "-z", "now", "-z", "norelro", "-z", "noseparate-code", "-z", page.c_str(),
      "--version-script", script.c_str(), "-o", output.c_str()};
  std::vector<std::span<const std::uint8_t>> all(objects.begin(), objects.end());
  all.insert(all.end(), user_objects.begin(), user_objects.end());
  const std::string padding_file = folder.file("padding.o");
  if (const auto padding = padding_object(layout, all)) {
    write_file(padding_file, *padding);
    arguments.push_back(padding_file.c_str());
  }
  std::vector<std::string> names;
  bool has_lines = false;
  for (const std::span<const std::uint8_t> input : all) {
    names.push_back(folder.file("object" + std::to_string(names.size()) + ".o"));
    write_file(names.back(), input);
    has_lines = has_lines || has_debug_information(input);
  }
  for (const std::string& name : names) arguments.push_back(name.c_str());
  // Identical code folding: kernels of a network often have loops in common, such as those that transform the input of
  // a convolution or pack its weights. User code may compare addresses of functions, and debug information needs a
  // place of its own for each line.
  if (user_objects.empty() && !has_lines) arguments.push_back("--icf=all");
  // Devices relocate debug information to the address where they load the code, so the relocations are kept.
  if (has_lines) arguments.push_back("--emit-relocs");
  try {
    run_lld(arguments);
  } catch (const InternalError& error) {
    if (user_objects.empty()) throw;
    throw CompileError(std::string("cannot link the objects of C functions: ") + error.what());
  }
  return read_file(output);
}

std::vector<std::string> imports_of(std::span<const std::uint8_t> linked) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(linked.data()), linked.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "linked"));
  if (!file) throw InternalError("lld wrote what cannot be read: " + llvm::toString(file.takeError()));
  std::vector<std::string> names;
  for (const llvm::object::ELFSymbolRef& symbol :
       llvm::cast<llvm::object::ELFObjectFileBase>(file->get())->getDynamicSymbolIterators()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) throw InternalError("lld wrote a symbol that cannot be read");
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0 && !name->empty()) names.push_back(name->str());
  }
  return names;
}

}  // namespace ferry::link
