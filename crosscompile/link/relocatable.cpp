#include "crosscompile/link/relocatable.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/link/lld.h"
#include "crosscompile/link/temporary_folder.h"

#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>

namespace ferry::link {
namespace {

llvm::StringRef text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
T expect(llvm::Expected<T> value, const char* what) {
  if (!value) throw InternalError(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

void expect(llvm::Error error, const char* what) {
  if (error) throw InternalError(std::string(what) + ": " + llvm::toString(std::move(error)));
}

}  // namespace

std::vector<std::uint8_t> link_relocatable(std::span<const std::vector<std::uint8_t>> objects,
                                           std::span<const std::uint8_t> library) {
  const TemporaryFolder folder;
  const std::string output = folder.file("linked.o");
  std::vector<const char*> arguments = {"ld.lld", "-r", "--threads=1", "-o", output.c_str()};
  std::vector<std::string> names;
  for (const std::vector<std::uint8_t>& object : objects) {
    names.push_back(folder.file("object" + std::to_string(names.size()) + ".o"));
    write_file(names.back(), object);
  }
  if (!library.empty()) {
    names.push_back(folder.file("library.a"));
    write_file(names.back(), library);
  }
  for (const std::string& name : names) arguments.push_back(name.c_str());
  run_lld(arguments);
  return read_file(output);
}

std::vector<std::uint8_t> keep_global(std::span<const std::uint8_t> object, std::span<const std::string> exports) {
  constexpr const char* kWhat = "the exported object";
  const auto file = expect(llvm::object::ObjectFile::createObjectFile({text_of(object), "exported"}), kWhat);
  llvm::objcopy::ConfigManager config;
  config.Common.StripDebug = true;
  for (const std::string& name : exports) {
    expect(config.Common.SymbolsToKeepGlobal.addMatcher(llvm::objcopy::NameOrPattern::create(
               name, llvm::objcopy::MatchStyle::Literal, [](llvm::Error error) { return error; })),
           kWhat);
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  expect(llvm::objcopy::executeObjcopyOnBinary(config, *file, stream), kWhat);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> archive(std::span<const ArchiveMember> members) {
  constexpr const char* kWhat = "the archive";
  std::vector<llvm::NewArchiveMember> all;
  for (const ArchiveMember& member : members)
    all.emplace_back(llvm::MemoryBufferRef(text_of(member.object), member.name));
  const std::unique_ptr<llvm::MemoryBuffer> bytes =
      expect(llvm::writeArchiveToBuffer(all, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                        /*Deterministic=*/true, /*Thin=*/false),
             kWhat);
  return {bytes->getBufferStart(), bytes->getBufferEnd()};
}

}  // namespace ferry::link
