// Compares how a function is declared, as clang sees it, with how a signature says it is called. A mismatch would not
// be detected otherwise: pointers have no types in machine code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crosscompile/foreign/signature.h"
#include "ferry/target/target.h"

namespace ferry::foreign {

struct Prototype {
  struct Parameter {
    std::string name;  // may be empty
    std::string type;  // without typedefs: "const float *restrict"
  };
  int line = 0;
  std::string returns;  // "void"
  std::vector<Parameter> parameters;
};

// Finds the function with this name and a body in the output of `clang -Xclang -ast-dump`; nothing when there is none.
std::optional<Prototype> find_prototype(std::string_view dump, const std::string& name);

// Throws CompileError with the file, the line and the first parameter that does not match: a different type, the name
// of another parameter, a constant that the signature writes, or a parameter too few or too many.
void check_prototype(const Prototype& prototype, const Signature& signature, const std::string& file,
                     const Target& target);

}  // namespace ferry::foreign
