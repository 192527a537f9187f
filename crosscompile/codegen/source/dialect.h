// The differences between C, CUDA C and OpenCL C.
#pragma once

#include "crosscompile/ir/buffer.h"

#include <string>
#include <string_view>

namespace ferry::codegen::source {

enum class Language : std::uint8_t { c, cuda, opencl };

struct Dialect {
  Language language = Language::c;
  std::string_view name = {};
  std::string_view helper = {};    // before the type of a helper function
  std::string_view restrict = {};  // after the star of a pointer that no other pointer aliases
  // For GPUs only.
  std::string_view kernel = {};          // before the result type of a kernel
  std::string_view global = {};          // before the type of data in the device's memory
  std::string_view shared = {};          // before the type of an array that a block shares
  std::string_view shared_pointer = {};  // before the type that a pointer into such an array points to
  std::string_view barrier = {};         // a statement
  std::string_view block_index[3] = {}, thread_index[3] = {};
  std::string_view unroll = {};  // a line before a loop with a constant trip count
};

const Dialect& dialect_of(Language language);

// Returns the C type of a value, and of an element in memory, where a bool is a byte of any value.
std::string value_type(DType type);
std::string memory_type(DType type);

// Returns a constant, with a cast where C has no literal for the type.
std::string int_literal(Language language, DType type, std::int64_t value);
std::string float_literal(DType type, double value);

}  // namespace ferry::codegen::source
