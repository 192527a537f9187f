// The arguments of a call as Python passes them.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "host/python/arrays.h"
#include "host/python/session.h"

namespace ferry::python {

// The values given for each parameter, in their order; nothing for an output that is to be allocated. The objects
// belong to the caller.
struct MatchedArguments {
  std::vector<nanobind::handle> values;
  std::vector<nanobind::handle> outs;  // where results go in the end, of parameters that are written; nothing: nowhere
};

// In the order of the inputs, or of all parameters, and then by name; `out` is an array or a tensor for each result.
// Throws nanobind::type_error with the signature.
MatchedArguments matched_arguments(const PyFunction& function, const nanobind::args& given,
                                   const nanobind::kwargs& named);

struct BorrowedArguments {
  std::vector<Argument> arguments;
  std::vector<BorrowedArgument> owners;  // these keep the memory that the arguments borrow
};

// Those of Function::call(): all parameters, or the inputs.
BorrowedArguments borrowed_arguments(const PyFunction& function, const MatchedArguments& matched);

// One object, or a tuple of several.
nanobind::object one_or_tuple(const nanobind::list& results);
// Calls the function by messages. Results are copied to where they are wanted.
nanobind::object call_by_messages(const PyFunction& function, const MatchedArguments& matched);

}  // namespace ferry::python
