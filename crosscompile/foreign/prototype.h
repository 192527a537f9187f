// How a function is really declared, as clang sees it, against how a signature says it is to be called. A mistake there
// would not show otherwise: pointers have no types in machine code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crosscompile/foreign/signature.h"
#include "crosscompile/target/target.h"

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

// Of the function with this name that has a body, in what `clang -Xclang -ast-dump` prints; nothing when there is none.
std::optional<Prototype> find_prototype(std::string_view dump, const std::string& name);

// CompileError names file and line, and the first parameter that does not fit: another type, the name of another
// parameter, a constant that is to be written, or one too few or many.
void check_prototype(const Prototype& prototype, const Signature& signature, const std::string& file,
                     const Target& target);

}  // namespace ferry::foreign
