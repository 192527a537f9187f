// A module's description of itself: its functions, how to call them, and what the device must provide. The server
// checks every call against it; the client uses it to allocate outputs and to write error messages.
#pragma once

#include "base/status.h"
#include "ferry/hash.h"
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
inline constexpr std::size_t kMaxDevices = 16;
inline constexpr std::size_t kMaxBlobs = 65'536;
inline constexpr std::size_t kMaxConstants = 65'536;
inline constexpr std::uint64_t kMaxBlobBytes = std::uint64_t{1} << 40;
inline constexpr std::size_t kMaxFunctions = 256;
inline constexpr std::size_t kMaxParameters = 1024;
inline constexpr std::size_t kMaxSymbols = 64;
inline constexpr std::size_t kMaxPreconditions = 64;
inline constexpr std::size_t kMaxPersistent = 65'536;
inline constexpr std::size_t kMaxMessages = 4096;
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
  bool is_constant = false;           // an input that an instance binds; init plans read no other parameter
  std::uint32_t device = 0;           // tensors: the device whose memory it is in
  bool operator==(const ParameterInfo&) const = default;
};

struct Precondition {
  ManifestExpr condition;  // must be non-zero
  std::string message;
  bool operator==(const Precondition&) const = default;
};

// Memory of an instance, which the function's init plan writes once and its plan reads.
struct PersistentBuffer {
  std::uint32_t device = 0;
  ValueIndex bytes = kNoValue;  // one of the init plan's values
  bool operator==(const PersistentBuffer&) const = default;
};

struct FunctionInfo {
  std::string name;  // as the user calls it
  // Sizes, all int64. Each is bound by the first input dimension that is exactly this symbol, or by the int64 scalar
  // parameter of the same name.
  std::vector<std::string> symbols;
  std::vector<ParameterInfo> parameters;
  std::vector<Precondition> preconditions;
  std::vector<std::string> messages;  // what the results of the steps mean
  ManifestExpr flops;                 // useful arithmetic operations of one call; 0 or empty code: unknown
  Plan plan;
  std::vector<PersistentBuffer> persistent;
  Plan init;  // runs when an instance is bound; without steps if there is nothing to compute then
  bool operator==(const FunctionInfo&) const = default;
};

// Whether calls of the function must name an instance.
inline bool needs_instance(const FunctionInfo& function) {
  return !function.persistent.empty() || !function.init.steps.empty();
}

// A device that the module needs. Images, steps, workspaces and parameters refer to it by its position.
struct ModuleDevice {
  std::string kind;                   // "cpu", "cuda", "opencl"
  std::string arch;                   // a CPU's: "x86_64", "armv7", "aarch64", "riscv64"; empty for others
  std::vector<std::string> features;  // from features.def, sorted: every feature that the code may use
  bool operator==(const ModuleDevice&) const = default;
};

// Contents that are transferred apart from the module, which only reads them.
struct Blob {
  Hash hash{};
  std::uint64_t bytes = 0;
  bool operator==(const Blob&) const = default;
};

// A range of a blob, in the memory of a device. The offset is a multiple of 64.
struct Constant {
  std::uint32_t blob = 0, device = 0;
  std::uint64_t offset = 0, bytes = 0;
  bool operator==(const Constant&) const = default;
};

struct Manifest {
  std::uint32_t abi_version = 0;
  std::vector<ModuleDevice> devices;
  std::string target;  // the whole target as text, for people
  std::vector<Blob> blobs;
  std::vector<Constant> constants;
  std::vector<FunctionInfo> functions;
  bool operator==(const Manifest&) const = default;
};

// Returns the architecture of a CPU, or the kind of another device.
const std::string& device_name(const ModuleDevice& device);
// Returns the names of the devices as a session has them: "cpu", "opencl", "cuda", and "cuda:1" for a second one.
std::vector<std::string> device_ids(const Manifest& manifest);
// Returns the index of the device that runs a step of the function's plan; of a copy, the one that it writes to; none
// of a repeat.
std::optional<std::uint32_t> device_of(const FunctionInfo& function, const Step& step);

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
};

// The arguments that are known: those of a call, those that determine its sizes, or those that an instance binds.
enum class GivenArguments : std::uint8_t { all, inputs, constants };

// Binds symbols from the arguments and checks count, dtype, rank, shape and preconditions. Error messages have the form
// "matmul: argument 2 'B': expected f32[64,100], got f32[64,128]".
// Arguments that are not given are ignored and have 0 bytes; symbols that no constant determines are then 0, and
// preconditions about them unchecked.
Result<BoundCall> bind_call(const FunctionInfo& function, std::span<const ArgumentShape> arguments,
                            GivenArguments given = GivenArguments::all);

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

// Returns a value of the function's plan as text: "(n + 1) * 4". A value that refers to others, or grows in a repeat,
// is "value 3".
std::string value_text(const FunctionInfo& function, ValueIndex index);
// Returns a step of the function's plan as text: "call ferry_fn_mm(A, B, C, M, K, N)".
std::string step_text(const FunctionInfo& function, const Step& step);

// A function whose plan is one call of native code, which receives all parameters and then all symbols.
struct NativeCode {
  std::string symbol;
  ManifestExpr call_workspace;    // bytes; empty code: none
  ManifestExpr thread_workspace;  // bytes; empty code: none
  bool operator==(const NativeCode&) const = default;
};

// Gives the function the plan of such a call. Its parameters and symbols must be known.
void set_native_code(FunctionInfo& function, const NativeCode& code);
// Returns nothing if the plan is anything else than one call.
std::optional<NativeCode> native_code(const FunctionInfo& function);

// Returns the expression of a value; empty code for kNoValue. It may refer to earlier values.
ManifestExpr value_expr(const Plan& plan, std::size_t symbol_count, ValueIndex index);

}  // namespace ferry
