// Plans a call from what the user said about its arguments: infers sizes, and generates inputs on the device or uploads
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/client.h"
#include "ferry/kernel/call_options.h"
#include "ferry/kernel/observer.h"
#include "host/kernel/input_content.h"

namespace ferry {

// Each list has one entry for each parameter.
struct CallPlan {
  std::vector<Shape> shapes;
  std::vector<Shape> strides;        // empty for dense tensors
  std::vector<std::int64_t> places;  // elements from the first to the end of the last
  std::vector<DType> dtypes;
  std::vector<InputContent> contents;  // given for tensors that are read
  std::vector<std::optional<Argument::Scalar>> scalars;
  std::vector<std::int64_t> symbols;  // in the manifest's order

  std::uint64_t bytes(std::size_t parameter) const;
  // Returns the bytes of an input before the call, including those between strided elements.
  std::vector<std::uint8_t> host_copy(std::size_t parameter) const;
};

// Number of bytes that one call reads and writes with these shapes, each tensor counted once, or twice if it is inout.
std::uint64_t traffic_bytes(const FunctionInfo& function, const std::vector<Shape>& shapes);

// Reads the files. Throws Error (invalid_argument) in terms of the user's own names; mistakes in
// the options are an OptionError.
CallPlan plan_call(const FunctionInfo& function, const CallOptions& options, InputRange range = InputRange::narrow);

// Finds the sizes, places and strides of a plan that has everything else. UsageError when the function cannot be called
// so.
void bind_plan(const FunctionInfo& function, CallPlan& plan);

// Returns an argument as a tensor of the device, or as a number. It is not an output.
Argument make_argument(const FunctionInfo& function, const CallPlan& plan, std::size_t parameter, const Device& device,
                       const Observer& observer = {});
// Returns all arguments but the outputs, in order.
std::vector<Argument> make_arguments(const FunctionInfo& function, const CallPlan& plan, const Device& device,
                                     const Observer& observer = {});

}  // namespace ferry
