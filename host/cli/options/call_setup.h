// Converts the user's options to the arguments of a call: infers sizes, and generates inputs on the device or uploads
// them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/options/argument_spec.h"
#include "host/session/ferry.h"

namespace ferry::cli {

struct CallOptions {
  std::vector<std::string> arguments;  // --arg
  std::vector<std::string> sizes;      // --size
  std::uint64_t seed = 0;
};
void add_call_options(CLI::App& command, CallOptions& options);

// The contents of an input, reproducible on this side.
struct InputContent {
  FillKind kind = FillKind::random;
  std::uint64_t seed = 0;
  std::vector<std::uint8_t> bytes;  // from a file; otherwise empty
};

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
  // Number of bytes that one call reads and writes, each tensor counted once.
  std::uint64_t traffic_bytes(const FunctionInfo& function) const;
};

// Reads the files. Throws UsageError or RemoteError (invalid_argument) in terms of the user's own names.
CallPlan plan_call(const FunctionInfo& function, const CallOptions& options);

// Finds the sizes, places and strides of a plan that has everything else. UsageError when the function cannot be called
// so.
void bind_plan(const FunctionInfo& function, CallPlan& plan);

// Returns all arguments but the outputs, in order, as tensors of the device.
std::vector<Argument> make_arguments(const FunctionInfo& function, const CallPlan& plan, const Device& device);

}  // namespace ferry::cli
