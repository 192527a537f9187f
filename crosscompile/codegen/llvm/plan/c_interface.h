// The C functions that a module's function is exported as: names, parameters and their order, results.
//
//   int64_t NAME_arena_bytes(sizes, int32_t threads);
//   int32_t NAME_init(void* arena, int64_t arena_bytes, [const void* weights, int64_t weights_bytes,] init arguments,
//                     NAME_threads* threads, NAME_instance** instance);
//   int32_t NAME_run(NAME_instance* instance, run arguments);
//   const char* NAME_message(int32_t code);
#pragma once

#include "module/manifest.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::codegen {

// Alignment of the arena and of weights. Tensors are aligned like their elements.
inline constexpr std::uint64_t kMemoryAlignment = 64;

// Results below 0 that the functions have in common: X(code, NAME, message).
#define FERRY_EXPORT_ERRORS(X)                                                                           \
  X(-1, NULL_POINTER, "a pointer is null")                                                               \
  X(-2, ARENA_ALIGNMENT, "the arena is not aligned to 64 bytes")                                         \
  X(-3, ARENA_BYTES, "the arena has fewer bytes than arena_bytes() returns for these sizes and threads") \
  X(-4, SIZES, "a size is negative, or the memory for these sizes exceeds what can be addressed")        \
  X(-5, TENSOR_ALIGNMENT, "a tensor is not aligned to the size of its elements")                         \
  X(-6, INSTANCE, "the instance was not made by init() of this function")                                \
  X(-7, CONSTANT_SIZES, "the sizes of constants differ from those that init() was called with")          \
  X(-8, WEIGHTS,                                                                                         \
    "the weights have another length, other contents or another alignment than those that were "         \
    "exported")                                                                                          \
  X(-9, THREADS, "the threads were not made by threads_start(), or their number or memory is too small") \
  X(-10, KERNEL, "a kernel failed")                                                                      \
  X(-11, START, "the system did not start a thread")

enum class ExportError : std::int32_t {
#define FERRY_ENUM(code, name, message) name = (code),
  FERRY_EXPORT_ERRORS(FERRY_ENUM)
#undef FERRY_ENUM
};

enum class CArgumentKind : std::uint8_t { tensor, scalar, size };

struct CArgument {
  CArgumentKind kind = CArgumentKind::tensor;
  std::size_t index = 0;  // the number of the function's parameter, or of its symbol
  std::string name;       // a C identifier
};

struct CInterface {
  std::string name;               // with which all symbols begin
  std::vector<CArgument> sizes;   // all of the function's symbols
  std::vector<CArgument> init;    // constants, then the sizes that their shapes have
  std::vector<CArgument> run;     // the other parameters in their order, then the sizes that are no scalars among them
  bool has_weights_file = false;  // weights are given to init() rather than part of the object
};

CInterface c_interface(const FunctionInfo& function, const std::string& name, bool has_weights_file);

// Returns the text with every other character replaced by '_', and something before a digit or around a keyword of C
// and C++.
std::string c_identifier(std::string_view text);

// The global symbols of the object, and of the object of the threads.
std::vector<std::string> exported_symbols(const CInterface& interface);
std::vector<std::string> thread_symbols(const CInterface& interface);

// Returns the texts of the results above 0: those of the kernels, then those of the preconditions.
std::vector<std::string> positive_messages(const FunctionInfo& function);

}  // namespace ferry::codegen
