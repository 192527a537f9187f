#include "crosscompile/codegen/source/source.h"

#include "crosscompile/codegen/source/gpu_kernel.h"
#include "crosscompile/codegen/source/kernel.h"
#include "crosscompile/codegen/source/prelude.h"
#include "crosscompile/ir/error.h"

#include <set>

namespace ferry::codegen {

std::string emit_source(std::span<const ir::Function> functions, const Target& target, source::Language language) {
  source::Unit unit(target, source::dialect_of(language));
  std::set<std::string> names;
  for (const ir::Function& function : functions) {
    if (!function.flat) throw InternalError(function.name + ": code generation expects what passes/flatten.h makes");
    if (!names.insert(function.name).second) throw CompileError("two functions are called '" + function.name + "'");
    // Reserves the functions' names, so that parallel bodies get other names.
    unit.names.fresh(source::symbol_of(function));
  }
  for (const ir::Function& function : functions) {
    if (language == source::Language::c)
      source::print_kernel(unit, function);
    else
      source::print_gpu_kernels(unit, function);
  }
  std::string text = source::prelude_text(unit);
  for (std::size_t i = 0; i < unit.functions.size(); ++i) text += (i > 0 ? "\n" : "") + unit.functions[i];
  return text;
}

}  // namespace ferry::codegen
