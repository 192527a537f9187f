#include "crosscompile/link/symbol_use.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <optional>

namespace ferry::link {
namespace {

using llvm::object::ELFObjectFileBase;
using llvm::object::SectionedAddress;

bool is_named(const llvm::object::SymbolRef& symbol, const std::string& name) {
  llvm::Expected<llvm::StringRef> found = symbol.getName();
  if (found) return *found == name;
  llvm::consumeError(found.takeError());
  return false;
}

// Returns the first place in code that is relocated by the symbol.
std::optional<SectionedAddress> first_place(const ELFObjectFileBase& file, const std::string& symbol) {
  for (const llvm::object::SectionRef& relocations : file.sections()) {
    llvm::Expected<llvm::object::section_iterator> section = relocations.getRelocatedSection();
    if (!section) {
      llvm::consumeError(section.takeError());
      continue;
    }
    if (*section == file.section_end() || !(*section)->isText()) continue;
    for (const llvm::object::RelocationRef& relocation : relocations.relocations()) {
      const llvm::object::symbol_iterator used = relocation.getSymbol();
      if (used != file.symbol_end() && is_named(*used, symbol))
        return SectionedAddress{relocation.getOffset(), (*section)->getIndex()};
    }
  }
  return std::nullopt;
}

std::string function_at(const ELFObjectFileBase& file, const SectionedAddress& place) {
  for (const llvm::object::ELFSymbolRef& symbol : file.symbols()) {
    if (symbol.getELFType() != llvm::ELF::STT_FUNC) continue;
    llvm::Expected<llvm::object::section_iterator> section = symbol.getSection();
    llvm::Expected<std::uint64_t> begin = symbol.getAddress();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    const bool is_known = section && begin && name;
    if (is_known && *section != file.section_end() && (*section)->getIndex() == place.SectionIndex &&
        place.Address >= *begin && place.Address - *begin < symbol.getSize())
      return name->str();
    llvm::consumeError(section.takeError());
    llvm::consumeError(begin.takeError());
    llvm::consumeError(name.takeError());
  }
  return {};
}

}  // namespace

std::string first_use(std::span<const std::uint8_t> object, const std::string& symbol) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  auto opened = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "object"));
  if (!opened) {
    llvm::consumeError(opened.takeError());
    return {};
  }
  const auto& file = llvm::cast<ELFObjectFileBase>(**opened);
  const std::optional<SectionedAddress> place = first_place(file, symbol);
  if (!place) return {};
  const auto quietly = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context = llvm::DWARFContext::create(file, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr,
                                                  "", quietly, quietly);
  // A name that shares folders with the current one is split there; the path joins both parts again.
  using Lines = llvm::DILineInfoSpecifier;
  const llvm::DILineInfo line =
      context->getLineInfoForAddress(*place, Lines(Lines::FileLineInfoKind::RelativeFilePath));
  if (line && line.Line != 0) return line.FileName + ":" + std::to_string(line.Line);
  const std::string function = function_at(file, *place);
  return function.empty() ? "" : "in " + function;
}

}  // namespace ferry::link
