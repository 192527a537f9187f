// Infers the sizes of a call from its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/client.h"
#include "module/manifest.h"

namespace ferry::session {

// The known properties of one parameter's argument before the sizes are inferred.
struct PartialArgument {
  DType dtype = DType::f32;                    // type of a tensor with a shape
  std::optional<Shape> shape;                  // shape of a tensor
  std::optional<std::uint64_t> flat_elements;  // number of elements of a tensor without a shape
  std::optional<std::int64_t> scalar;          // value of an integer scalar
};

using SymbolValues = std::vector<std::optional<std::int64_t>>;  // in the order of FunctionInfo::symbols

// Rejects an argument whose rank differs from its parameter's, with the message of bind_call, which needs all
// arguments.
void check_ranks(const FunctionInfo& function, const std::vector<PartialArgument>& arguments);

// Infers the sizes that `known` leaves open from the arguments, one for each parameter. A size with conflicting values
// keeps the first one: bind_call does the checking.
void solve_symbols(const FunctionInfo& function, const std::vector<PartialArgument>& arguments, SymbolValues& known);

// Rejects sizes that no call can have, such as a negative dimension or a violated precondition, with the messages of
// the call's own checks. Conditions on unknown sizes are left to those.
void check_sizes(const FunctionInfo& function, const SymbolValues& known);

// Returns the shape of every parameter, empty for scalars. Throws Error with invalid_argument that names the
// missing sizes and ends with `advice`.
std::vector<Shape> shapes_of(const FunctionInfo& function, const SymbolValues& known, const std::string& advice);

// The sizes of a call.
struct CallSizes {
  std::vector<Shape> shapes;  // one for each parameter; empty for scalars
  std::vector<std::int64_t> symbols;
};
// Infers them from arguments as Function::call() takes them. Throws Error with invalid_argument for a wrong
// number of arguments, a wrong rank, and sizes that the arguments do not say.
CallSizes sizes_of_call(const FunctionInfo& function, const std::vector<Argument>& arguments);

}  // namespace ferry::session
