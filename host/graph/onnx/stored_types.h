// Element types that weights are stored in, and that nothing computes with: integers of 2 or 4 bits and floats of 4
// or 8.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Returns the bits of an element of such a type, by ONNX's name of it; 0 for any other.
std::size_t stored_bits(const std::string& type);
// Returns the values of all elements of such a type, by their bits. Float32 holds them.
std::vector<float> stored_values(const std::string& type);
// Whether the importer of an operator takes initializers of such types.
bool decodes_stored_types(const std::string& domain, const std::string& op);
// Returns the values of codes of such a type, which are signed integers, as float32.
Value decoded_codes(const NodeImport& node, const std::string& type, const Value& codes);
// Returns the tensor as float32. It stays as narrow as it is in the file until nodes decode it.
Value decoded(const NodeImport& node, const Constant& stored);
// Returns an input that may be of such a type.
Value decoded_input(const NodeImport& node, std::size_t i);

// Returns numbers of few bits, packed in uint8, along a longer last dimension, as int8 or int16: the first one of a
// byte is its low bits.
Value unpacked(const NodeImport& node, const Value& packed, std::int64_t bits);

}  // namespace ferry::graph::onnx
