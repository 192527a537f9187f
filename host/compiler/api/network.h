// Networks as a user names them, and what can be said of one without compiling it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ferry/error_ratios.h"
#include "ferry/int8_mode.h"
#include "ferry/types.h"

namespace ferry {

// Contents that an input has in every call.
struct BoundTensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;
};

struct NetworkSource {
  std::string file;                                  // net.onnx
  std::map<std::string, std::int64_t> sizes = {};    // those that are the same in every call
  std::map<std::string, BoundTensor> bindings = {};  // inputs that are the same in every call
  bool winograd = true;  // convolutions may be computed by Winograd's algorithm, which rounds differently
  Int8Mode int8 = Int8Mode::automatic;      // how products of dequantized integers are computed
  ErrorRatios max_error = kMaxErrorRatios;  // the limit for Winograd's algorithm
  std::vector<std::string> outputs = {};    // tensors that nodes compute, which are outputs beside the network's own
};

// How the file names what a network computes.
struct NetworkNames {
  std::vector<std::string> inputs;           // the function's inputs, in order
  std::vector<std::string> outputs;          // its outputs, in order
  std::vector<std::string> tensors;          // what nodes outside of loops, branches and functions compute, in order
  std::map<std::string, std::string> nodes;  // the first of these that each node computes
  // The texts of the model in whose place outputs have their indices, by output, and the same of inputs. The last text
  // of an input stands for all others.
  std::map<std::string, std::vector<std::string>> labels = {}, input_labels = {};
  // How many rows the tables have that inputs index, by position: smaller numbers are valid.
  std::map<std::size_t, std::int64_t> index_limits = {};
};

struct NetworkTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::string> shape;  // numbers, or expressions of the symbols
  // Names the output that says which shape this one has in a call, if it has room for the most there may be.
  std::string counted_by = {};
};

struct NetworkOperator {
  std::string name;
  std::size_t nodes = 0;
  bool is_supported = false;  // in the opset that the network names
};

struct NetworkSummary {
  std::string name;
  std::int64_t ir_version = 0, opset = 0;
  std::vector<std::string> symbols;  // sizes that the inputs of a call determine
  std::vector<NetworkTensor> inputs;
  std::vector<NetworkTensor> outputs;  // none where something is not supported
  std::vector<NetworkOperator> operators;
  std::uint64_t parameters = 0;          // elements of float tensors in the file
  std::string multiply_adds;             // those of one call, over the symbols; empty where something is not supported
  std::vector<std::string> unsupported;  // a sentence each
};

// Whether the file's extension names a network.
bool is_network(const std::string& file);

}  // namespace ferry
