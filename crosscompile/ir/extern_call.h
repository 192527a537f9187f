// A call of a C function on memory: the statement `f(address_of(C[m, n]), address_of(A[m, 0]), lda);`, an Evaluate of a
// Call. Its arguments are addresses of elements and numbers. The function may read and write any elements
// of the buffers that it receives, as far as the code at the place of the call may.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <string>
#include <vector>

namespace ferry::ir {

// Returns the address of an element, which need not exist. Valid only as an argument of such a call.
Expr address_of(const BufferRef& buffer, std::vector<Expr> indices);
// Returns the load that represents the element; null when the expression is not an address.
const Load* addressed(const Expr& expr);
const Load* addressed(const Call& call);

Stmt make_extern_call(const std::string& function, std::vector<Expr> arguments);
// Returns the names of all functions so called, each once.
std::vector<std::string> extern_functions(const Stmt& stmt);

}  // namespace ferry::ir
