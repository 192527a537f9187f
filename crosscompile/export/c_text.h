// C source for users of exported code.
#pragma once

#include "crosscompile/codegen/llvm/plan/c_interface.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::exported {

struct CodeFacts {
  const FunctionInfo& function;
  const codegen::CInterface& interface;
  std::string target;               // as text
  std::uint64_t weights_bytes = 0;  // the size of the file of weights
};

std::string header_text(const CodeFacts& facts);

// A program that calls the function once for these sizes; those not given are 16.
std::string example_text(const CodeFacts& facts, const std::map<std::string, std::int64_t>& sizes);
// The file of the example: main.c, unless an object that is called main.o would be the object of this one to make.
std::string example_file(const codegen::CInterface& interface);
// Builds it with `library`, the file that the program links.
std::string makefile_text(const codegen::CInterface& interface, const std::string& library);

// "const float*" or "float"
std::string c_type_of(const ParameterInfo& parameter);

}  // namespace ferry::exported
