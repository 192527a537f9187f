#include "crosscompile/ptx/demangled.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace ferry::ptx {

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text != nullptr ? text.get() : symbol;
}

}  // namespace ferry::ptx
