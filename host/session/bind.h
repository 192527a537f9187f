// Finds the sizes of a call from what is known of its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/session/ferry.h"

namespace ferry::session {

// What is known of one parameter's argument before the sizes are.
struct PartialArgument {
  DType dtype = DType::f32;                    // of a tensor with a shape
  std::optional<Shape> shape;                  // of a tensor
  std::optional<std::uint64_t> flat_elements;  // of a tensor whose elements came without a shape
  std::optional<std::int64_t> scalar;          // of an integer scalar
};

using SymbolValues = std::vector<std::optional<std::int64_t>>;  // in the order of FunctionInfo::symbols

// Refuses an argument of another rank than its parameter, in the words of bind_call, which needs all arguments.
void check_ranks(const FunctionInfo& function, const std::vector<PartialArgument>& arguments);

// Fills in what the arguments, one a parameter, say about sizes that `known` leaves open. A size said twice differently
// keeps its first value: checking is bind_call's.
void solve_symbols(const FunctionInfo& function, const std::vector<PartialArgument>& arguments, SymbolValues& known);

// Refuses sizes that no call can have, a negative dimension or a broken precondition, in the words of the call's own
// checks. What depends on sizes that are not known is left to those.
void check_sizes(const FunctionInfo& function, const SymbolValues& known);

// The shape of every parameter, empty for scalars. RemoteError with invalid_argument names the sizes that are missing
// and adds `advice`.
std::vector<Shape> shapes_of(const FunctionInfo& function, const SymbolValues& known, const std::string& advice);

}  // namespace ferry::session
