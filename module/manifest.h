// A module's description of itself: its functions, how to call them, and what the device must provide. The server
// checks every call against it; the client uses it to allocate outputs and to write error messages.
#pragma once

#include "base/status.h"
#include "ferry/types.h"
#include "module/manifest_expr.h"
#include "module/plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry {

inline constexpr std::size_t kMaxRank = 8;
inline constexpr std::size_t kMaxFunctions = 256;
inline constexpr std::size_t kMaxParameters = 64;
inline constexpr std::size_t kMaxSymbols = 64;
inline constexpr std::size_t kMaxPreconditions = 64;
inline constexpr std::size_t kMaxMessages = 256;
inline constexpr std::size_t kMaxFeatures = 256;
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxMessageBytes = 4096;

struct ParameterInfo {
  std::string name;
  ParameterKind kind = ParameterKind::tensor;
  DType dtype = DType::f32;
  Direction direction = Direction::in;
  std::vector<ManifestExpr> shape;    // tensors only, rank 0..8
  std::vector<ManifestExpr> strides;  // in elements; empty: dense, row-major
  bool operator==(const ParameterInfo&) const = default;
};

struct Precondition {
  ManifestExpr condition;  // must be non-zero
  std::string message;
  bool operator==(const Precondition&) const = default;
};

struct FunctionInfo {
  std::string name;    // as the user calls it
  std::string symbol;  // name of the native code; unused if the function has a plan
  // Sizes, all int64. Each is bound by the first input dimension that is exactly this symbol, or by the int64 scalar
  // parameter of the same name.
  std::vector<std::string> symbols;
  std::vector<ParameterInfo> parameters;
  std::vector<Precondition> preconditions;
  ManifestExpr call_workspace;        // bytes; empty code: none
  ManifestExpr thread_workspace;      // bytes; empty code: none
  std::vector<std::string> messages;  // for non-zero results: result r means messages[r - 1]
  ManifestExpr flops;                 // useful arithmetic operations of one call; 0 or empty code: unknown
  Plan plan;                          // empty: the symbol is called
  bool operator==(const FunctionInfo&) const = default;
};

struct Manifest {
  std::uint32_t abi_version = 0;
  std::string arch;                   // "x86_64", "armv7", "aarch64", "riscv64"; for GPUs "cuda", "opencl"
  std::vector<std::string> features;  // from features.def, sorted: every feature that the code may use
  std::string target;                 // the whole target as text, for people
  std::vector<FunctionInfo> functions;
  bool operator==(const Manifest&) const = default;
};

// Checks that names, counts and expressions are within their limits and that every reference is valid.
Status check_manifest(const Manifest& manifest);

// One argument of a call as client and server see it before the data is accessed.
struct ArgumentShape {
  ParameterKind kind = ParameterKind::tensor;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  // tensors
  std::int64_t scalar = 0;          // int64 scalars, which may bind a symbol
};

// The values that are known once the sizes of a call are known.
struct BoundCall {
  std::vector<std::int64_t> symbols;
  std::vector<std::uint64_t> tensor_bytes;  // one entry per parameter; 0 for scalars
  std::uint64_t call_workspace = 0;
  std::uint64_t thread_workspace = 0;
};

// Binds symbols from the arguments and checks count, dtype, rank, shape and preconditions. Error messages have the form
// "matmul: argument 2 'B': expected f32[64,100], got f32[64,128]".
Result<BoundCall> bind_call(const FunctionInfo& function, std::span<const ArgumentShape> arguments);

// Returns the values of the function's symbols. `arguments` has one entry per parameter; the entries of out tensors are
// ignored, so a client can call this before it allocates them.
Result<std::vector<std::int64_t>> bind_symbols(const FunctionInfo& function, std::span<const ArgumentShape> arguments);

// Returns the shape of every parameter (empty for scalars) for known symbols. Clients use it to allocate outputs.
Result<std::vector<std::vector<std::int64_t>>> infer_shapes(const FunctionInfo& function,
                                                            std::span<const std::int64_t> symbols);

// Returns the bytes of a dense tensor; nothing if the number does not fit into 63 bits. A tensor without elements has 0
// bytes, whatever its other sizes.
std::optional<std::uint64_t> dense_bytes(DType dtype, std::span<const std::int64_t> shape);

// Returns a text such as "f32[64,100]".
std::string shape_text(DType dtype, std::span<const std::int64_t> shape);
// Returns a text such as "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)".
std::string signature_text(const FunctionInfo& function);

}  // namespace ferry
