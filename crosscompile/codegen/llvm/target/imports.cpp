#include "crosscompile/codegen/llvm/target/imports.h"

#include "crosscompile/ir/error.h"

#include <llvm/Object/ObjectFile.h>

#include <algorithm>

namespace ferry::codegen {

bool is_offered(std::string_view name, const std::string& arch) {
  const auto on = [&](const char* architectures) {
    return std::string_view(architectures) == "any" || arch == architectures;
  };
#define FERRY_SYMBOL(symbol, architectures) \
  if (name == #symbol && on(#architectures)) return true;
#include "module/symbols.def"
#undef FERRY_SYMBOL
  // The linker defines this symbol.
  return name == "_GLOBAL_OFFSET_TABLE_";
}

namespace {

template <class T>
T checked(llvm::Expected<T> value) {
  if (!value) throw InternalError("the object LLVM made cannot be read: " + llvm::toString(value.takeError()));
  return std::move(*value);
}

}  // namespace

void check_object_imports(const std::string& object, const Target& target, const std::vector<std::string>& known) {
  const llvm::MemoryBufferRef buffer(object, "object");
  const auto file = checked(llvm::object::ObjectFile::createObjectFile(buffer));
  for (const llvm::object::SymbolRef& symbol : file->symbols()) {
    if ((checked(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined) == 0) continue;
    const llvm::StringRef name = checked(symbol.getName());
    if (name.empty() || is_offered(name, target.arch_name)) continue;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw InternalError("the code needs '" + name.str() + "', which devices do not offer on " + target.arch_name);
  }
}

}  // namespace ferry::codegen
