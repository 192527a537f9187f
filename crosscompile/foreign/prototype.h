// Compares how a function is declared, as its compiler sees it, with how a signature says it is called. A mismatch
// would not be detected otherwise: pointers have no types in machine code.
#pragma once

#include <string>

#include "crosscompile/foreign/signature.h"
#include "crosscompile/link/declared_function.h"

namespace ferry::foreign {

// Throws CompileError with the file, the line and the first parameter that does not match: a different type, the name
// of another parameter, a constant that the signature writes, or a parameter too few or too many; or with a result that
// the caller does not expect.
void check_prototype(const link::DeclaredFunction& prototype, const Signature& signature, const std::string& file);

}  // namespace ferry::foreign
