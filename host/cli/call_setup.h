// From what the user typed to the arguments of a call: sizes found, inputs made on the device or uploaded.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/argument_spec.h"
#include "host/session/ferry.h"

namespace ferry::cli {

struct CallOptions {
  std::vector<std::string> arguments;  // --arg
  std::vector<std::string> sizes;      // --size
  std::uint64_t seed = 0;
};
void add_call_options(CLI::App& command, CallOptions& options);

// What an input holds, to be had again on this side.
struct InputContent {
  FillKind kind = FillKind::random;
  std::uint64_t seed = 0;
  std::vector<std::uint8_t> bytes;  // from a file; otherwise empty
};

// One entry a parameter in each list.
struct CallPlan {
  std::vector<Shape> shapes;
  std::vector<Shape> strides;        // of tensors that are not dense
  std::vector<std::int64_t> places;  // elements from the first to past the last
  std::vector<DType> dtypes;
  std::vector<InputContent> contents;                    // tensors that are read
  std::vector<std::optional<Argument::Scalar>> scalars;  // scalars
  std::vector<std::int64_t> symbols;                     // in the manifest's order

  std::uint64_t bytes(std::size_t parameter) const;
  // The bytes of an input as the call finds them, those between strided elements too.
  std::vector<std::uint8_t> host_copy(std::size_t parameter) const;
  // Read and written by one call, each tensor once.
  std::uint64_t traffic_bytes(const FunctionInfo& function) const;
};

// Reads the files. UsageError or RemoteError (invalid_argument) in the user's own names.
CallPlan plan_call(const FunctionInfo& function, const CallOptions& options);

// All but the outputs, in order, as tensors of the device.
std::vector<Argument> make_arguments(const FunctionInfo& function, const CallPlan& plan, const Device& device);

}  // namespace ferry::cli
