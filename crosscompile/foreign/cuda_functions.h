// Finds the kernels of CUDA C that signatures describe, and how they are declared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "crosscompile/foreign/foreign.h"
#include "crosscompile/link/declared_function.h"

namespace ferry::foreign {

struct CudaFunction {
  std::string symbol;  // as the code defines it
  std::string name;    // as CUDA C calls it, "filters::blur"
};

// Returns the kernels that PTX defines.
std::vector<CudaFunction> kernels_in_ptx(std::string_view ptx);

// Returns the one with the signature's name, or the only one there is. Throws CompileError with the nearest names.
CudaFunction find_kernel(const std::vector<CudaFunction>& all, const ForeignKernel& kernel, const Signature& signature);

// Text to compile behind the file's, and an expression over it whose symbol describes how the kernel is declared.
const char* declaring_text();
std::string declaring_expression(const CudaFunction& function);
// Reads such a symbol. `text` is the file's, in which the line of the kernel is looked for.
link::DeclaredFunction declaration_in(const std::string& symbol, const CudaFunction& function, std::string_view text,
                                      const std::string& file);

}  // namespace ferry::foreign
