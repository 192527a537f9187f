#include "crosscompile/codegen/source/source.h"

#include "crosscompile/codegen/source/gpu_kernel.h"
#include "crosscompile/codegen/source/kernel.h"
#include "crosscompile/codegen/source/prelude.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/gpu/extract_kernels.h"

#include <vector>

namespace ferry::codegen {
namespace {

std::vector<std::string> symbols_of(const ir::Function& function, source::Language language) {
  if (language == source::Language::c) return {source::symbol_of(function)};
  std::vector<std::string> symbols;
  for (const passes::GpuKernel& kernel : passes::extract_kernels(function)) symbols.push_back(kernel.symbol);
  return symbols;
}

}  // namespace

std::string emit_source(std::span<const ir::Function> functions, const Target& target, source::Language language) {
  source::Unit unit(target, source::dialect_of(language));
  for (const ir::Function& function : functions) {
    if (!function.flat) throw InternalError(function.name + ": code generation expects what passes/flatten.h makes");
    // Reserves the functions' names, so that parallel bodies get other names.
    for (const std::string& symbol : symbols_of(function, language))
      if (unit.names.fresh(symbol) != symbol) throw CompileError("two functions are called '" + symbol + "'");
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
