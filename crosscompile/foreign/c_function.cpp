#include "crosscompile/foreign/c_function.h"

#include <algorithm>
#include <cctype>

#include "base/suggest.h"
#include "crosscompile/foreign/c_compiler.h"
#include "crosscompile/foreign/prototype.h"
#include "crosscompile/ir/error.h"

namespace ferry::foreign {
namespace {

constexpr std::size_t kSuggestions = 3;

// Returns the last name of a mangled symbol: "saxpy" for "_ZN5linear5saxpyEfPKf".
std::string source_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  std::string name;
  std::size_t at = symbol.starts_with("_ZN") ? 3 : 2;
  while (at < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[at])) != 0) {
    std::size_t length = 0;
    for (; at < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[at])) != 0; ++at)
      length = length * 10 + static_cast<std::size_t>(symbol[at] - '0');
    if (length > symbol.size() - at) return symbol;
    name = symbol.substr(at, length);
    at += length;
  }
  return name.empty() ? symbol : name;
}

}  // namespace

std::string find_function(const link::ObjectFacts& facts, const ForeignKernel& kernel, const Signature& signature) {
  const std::string& wanted = signature.c_name;
  if (std::find(facts.functions.begin(), facts.functions.end(), wanted) != facts.functions.end()) return wanted;
  if (facts.functions.size() == 1 && kernel.signatures.size() == 1) return facts.functions.front();
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

void check_declaration(const ForeignKernel& kernel, const Signature& signature, const std::string& symbol,
                       const Target& target) {
  if (!has_syntax(kernel.file)) return;
  const std::string name = source_name(symbol);
  const std::string tree = syntax_tree(kernel.file, kernel.flags, target, name);
  const std::optional<Prototype> prototype = find_prototype(tree, name);
  // Functions from assembly, aliases and macros of the linker have no prototype.
  if (prototype) check_prototype(*prototype, signature, kernel.file, target);
}

}  // namespace ferry::foreign
