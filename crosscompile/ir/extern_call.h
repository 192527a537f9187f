// A C function called on memory: the statement `f(address_of(C[m, n]), address_of(A[m, 0]), lda);`, an Evaluate of a
// Call of that name. Its arguments are addresses of elements and numbers; of the buffers that it gets it reads and
// writes what it likes, within what the place of the call may.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <string>
#include <vector>

namespace ferry::ir {

// The element need not exist. Only as an argument of such a call.
Expr address_of(const BufferRef& buffer, std::vector<Expr> indices);
// The load that stands for the element; null for anything else than an address.
const Load* addressed(const Call& call);

Stmt make_extern_call(const std::string& function, std::vector<Expr> arguments);
// The names of all functions so called, each once.
std::vector<std::string> extern_functions(const Stmt& stmt);

}  // namespace ferry::ir
