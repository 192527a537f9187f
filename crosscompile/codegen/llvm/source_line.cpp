#include "crosscompile/codegen/llvm/source_line.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace ferry::codegen {

std::string source_line(std::span<const std::uint8_t> image, std::uint64_t address) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(image.data()), image.size());
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "module"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return {};
  }
  const auto quietly = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context = llvm::DWARFContext::create(**object, llvm::DWARFContext::ProcessDebugRelocations::Ignore,
                                                  nullptr, "", quietly, quietly);
  std::uint64_t section = llvm::object::SectionedAddress::UndefSection;
  for (const llvm::object::SectionRef& each : (*object)->sections()) {
    if (each.isText() && address >= each.getAddress() && address - each.getAddress() < each.getSize()) {
      section = each.getIndex();
    }
  }
  using Lines = llvm::DILineInfoSpecifier;
  const llvm::DILineInfo line =
      context->getLineInfoForAddress({address, section}, Lines(Lines::FileLineInfoKind::RelativeFilePath));
  if (!line || line.Line == 0) return {};
  return line.FileName + ":" + std::to_string(line.Line);
}

}  // namespace ferry::codegen
