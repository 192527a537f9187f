#include "crosscompile/codegen/llvm/debug_lines.h"

#include <llvm/BinaryFormat/Dwarf.h>

namespace ferry::codegen {

llvm::DebugLoc DebugLines::begin(const ir::Function& source, llvm::Function* function) {
  if (source.lines == nullptr) return {};
  const ir::SourceLines& lines = *source.lines;
  if (builder_ == nullptr) {
    module_.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    module_.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
    builder_ = std::make_unique<llvm::DIBuilder>(module_);
    builder_->createCompileUnit(llvm::dwarf::DW_LANG_C99, builder_->createFile(lines.file, "."), "ferry", true, "", 0);
  }
  llvm::DIFile* file = builder_->createFile(lines.file, ".");
  auto* type = builder_->createSubroutineType(builder_->getOrCreateTypeArray({}));
  const auto flags = llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized;
  llvm::DISubprogram* program = builder_->createFunction(file, source.name, function->getName(), file, lines.line, type,
                                                         lines.line, llvm::DINode::FlagZero, flags);
  function->setSubprogram(program);
  return llvm::DILocation::get(module_.getContext(), lines.line, 0, program);
}

llvm::DebugLoc DebugLines::of_store(const ir::Function& source, const ir::Buffer& buffer,
                                    llvm::Function* function) const {
  llvm::DISubprogram* program = function->getSubprogram();
  if (source.lines == nullptr || program == nullptr) return {};
  // Stages that a schedule derives from a tensor have its name, followed by a dot and a suffix.
  const auto line = source.lines->stores.find(buffer.name.substr(0, buffer.name.find('.')));
  return llvm::DILocation::get(module_.getContext(),
                               line == source.lines->stores.end() ? source.lines->line : line->second, 0, program);
}

void DebugLines::finish() {
  if (builder_ != nullptr) builder_->finalize();
}

}  // namespace ferry::codegen
