// Describes functions and the steps of networks in plain types, for programs that show them or choose by them.
//
//     for (const ferry::FunctionDescription& function : ferry::describe(module))
//       std::cout << function.signature << "\n";
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/api.h"
#include "ferry/client.h"
#include "ferry/types.h"

namespace ferry {

struct ParameterDescription {
  std::string name;
  DType dtype = DType::f32;
  bool is_tensor = false;          // otherwise a number
  bool is_read = false;            // by the function: in and inout
  bool is_written = false;         // out and inout
  bool is_constant = false;        // an instance keeps what is computed from it alone
  std::vector<std::string> shape;  // a tensor's extents: "64", "N", "2 * N + 1"
};

struct FunctionDescription {
  std::string name;
  std::string signature;           // "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)"
  std::vector<std::string> sizes;  // a call determines them: M, K, N
  std::vector<ParameterDescription> parameters;
};

// A step of a network's plan.
struct StepText {
  std::string node;  // the names of the nodes that it computes
  DType dtype = DType::f32;
  std::vector<std::string> shape;  // the result's extents
  std::string flops, bytes;        // for one call, as expressions of the sizes; empty: unknown
};

// Returns the functions in their order.
FERRY_API std::vector<FunctionDescription> describe(const CompiledModule& module);
FERRY_API FunctionDescription describe(const Function& function);
// Returns the steps of a network; none for other modules, or if the file does not say.
FERRY_API std::vector<StepText> describe_steps(const CompiledModule& module);

}  // namespace ferry
