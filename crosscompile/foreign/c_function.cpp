#include "crosscompile/foreign/c_function.h"

#include <algorithm>

#include "base/suggest.h"
#include "crosscompile/foreign/c_compiler.h"
#include "crosscompile/foreign/prototype.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/declared_function.h"

namespace ferry::foreign {
namespace {

constexpr std::size_t kSuggestions = 3;

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

std::vector<std::uint8_t> declarations_of(const ForeignKernel& kernel, const Target& target) {
  if (has_syntax(kernel.file)) return compile_with_declarations(kernel.file, kernel.flags, target);
  return is_ir(kernel.file) ? print_ir(kernel.file, kernel.flags, target) : std::vector<std::uint8_t>();
}

void check_declaration(std::span<const std::uint8_t> declarations, const ForeignKernel& kernel,
                       const Signature& signature, const std::string& symbol) {
  const std::optional<link::DeclaredFunction> declared =
      is_ir(kernel.file)
          ? link::declared_in_ir({reinterpret_cast<const char*>(declarations.data()), declarations.size()}, symbol)
          : link::declared_in_object(declarations, symbol);
  // Nothing is known of functions from assembly, aliases and macros of the linker.
  if (declared) check_prototype(*declared, signature, kernel.file);
}

}  // namespace ferry::foreign
