#include "crosscompile/ir/symbol.h"

#include "module/kernel_symbol.h"

namespace ferry::ir {

std::string function_symbol(const Function& function) {
  return function.init_of.empty() ? kSymbolPrefix + function.name : kInitSymbolPrefix + function.init_of;
}

}  // namespace ferry::ir
