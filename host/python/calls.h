// The arguments of a call as Python passes them.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "host/python/arrays.h"
#include "host/python/session.h"

namespace ferry::python {

struct BorrowedArguments {
  std::vector<Argument> arguments;
  std::vector<BorrowedArgument> owners;  // these keep the memory that the arguments borrow
};

// In the order of the inputs, or of all parameters, and then by name. Throws nanobind::type_error with the signature.
BorrowedArguments borrowed_arguments(const PyFunction& function, const nanobind::args& given,
                                     const nanobind::kwargs& named);

}  // namespace ferry::python
