#include "crosscompile/link/inspect_object.h"

#include "crosscompile/ir/error.h"

#include <llvm/Object/ELFObjectFile.h>

namespace ferry::link {
namespace {

using llvm::object::ELFObjectFileBase;
using llvm::object::SymbolRef;

// Returns Target::arch_name, or a description of an architecture that has none.
std::string arch_of(const ELFObjectFileBase& file) {
  switch (file.getEMachine()) {
    case llvm::ELF::EM_X86_64: return "x86_64";
    case llvm::ELF::EM_ARM: return "armv7";
    case llvm::ELF::EM_AARCH64: return "aarch64";
    case llvm::ELF::EM_RISCV: return file.is64Bit() ? "riscv64" : "riscv32";
    default: return "an unknown architecture (" + std::to_string(file.getEMachine()) + ")";
  }
}

// Returns why the section cannot be loaded: its contents would have to be set up before a kernel runs, or once per
// thread.
std::string refusal(llvm::StringRef section) {
  if (section.starts_with(".tbss") || section.starts_with(".tdata")) return "thread-local storage";
  if (section == ".init" || section == ".fini") return "constructors or destructors";
  for (const char* name : {".init_array", ".ctors", ".preinit_array", ".fini_array", ".dtors"}) {
    if (section.starts_with(name)) return "constructors or destructors";
  }
  return {};
}

}  // namespace

ObjectFacts inspect_object(std::span<const std::uint8_t> bytes, const std::string& name, const Target& target) {
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto opened = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(text, name));
  if (!opened) throw CompileError(name + ": expected an ELF object: " + llvm::toString(opened.takeError()));
  const auto& file = llvm::cast<ELFObjectFileBase>(**opened);
  if (const std::string arch = arch_of(file); arch != target.arch_name)
    throw CompileError(name + ": expected an object for " + target.arch_name + ", got one for " + arch);
  ObjectFacts facts;
  facts.is_shared = file.getEType() == llvm::ELF::ET_DYN;
  for (const llvm::object::SectionRef& section : file.sections()) {
    llvm::Expected<llvm::StringRef> section_name = section.getName();
    if (!section_name) throw CompileError(name + ": " + llvm::toString(section_name.takeError()));
    facts.has_hash = facts.has_hash || *section_name == ".hash";
    if (const std::string why = refusal(*section_name); !why.empty() && section.getSize() > 0) {
      facts.refused.push_back(why + " (" + section_name->str() + ")");
    }
  }
  const auto visit = [&](const llvm::object::ELFSymbolRef& symbol) {
    llvm::Expected<std::uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> symbol_name = symbol.getName();
    if (!flags || !symbol_name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(symbol_name.takeError());
      throw CompileError(name + ": a symbol cannot be read");
    }
    if (symbol.getELFType() == llvm::ELF::STT_GNU_IFUNC) {
      facts.refused.push_back("a function chosen at load time (" + symbol_name->str() + ")");
    }
    const bool defined = (*flags & SymbolRef::SF_Undefined) == 0 && (*flags & SymbolRef::SF_Global) != 0;
    if (defined && symbol.getELFType() == llvm::ELF::STT_FUNC) facts.functions.push_back(symbol_name->str());
    if ((*flags & SymbolRef::SF_Undefined) != 0 && !symbol_name->empty()) facts.undefined.push_back(symbol_name->str());
  };
  if (facts.is_shared) {
    for (const llvm::object::ELFSymbolRef& symbol : file.getDynamicSymbolIterators()) visit(symbol);
  } else {
    for (const llvm::object::ELFSymbolRef& symbol : file.symbols()) visit(symbol);
  }
  return facts;
}

std::vector<std::uint8_t> section_of(std::span<const std::uint8_t> bytes, const std::string& section) {
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto opened = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(text, "object"));
  if (!opened) {
    llvm::consumeError(opened.takeError());
    return {};
  }
  const auto& file = llvm::cast<ELFObjectFileBase>(**opened);
  if (file.getEType() != llvm::ELF::ET_REL) return {};
  for (const llvm::object::SectionRef& candidate : file.sections()) {
    llvm::Expected<llvm::StringRef> name = candidate.getName();
    llvm::Expected<llvm::StringRef> contents = candidate.getContents();
    if (name && contents && *name == section) return {contents->begin(), contents->end()};
    llvm::consumeError(name.takeError());
    llvm::consumeError(contents.takeError());
  }
  return {};
}

}  // namespace ferry::link
