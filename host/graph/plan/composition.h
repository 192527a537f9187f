// A function whose plan runs kernels one after the other, each of them a function of its own before:
//
//     conv_0(x, w, y)   relu_1(x, y)     and     t = conv_0(image, weights); result = relu_1(t)     become
//     network(image, result) { call conv_0(image, constant 0, workspace 0); call relu_1(workspace 0, result) }
//
// Steps between the begin and the end of a loop are repeated (module/plan.h).
//
// Composition appends the plans of the kernels with their operands, values, messages and init plans renumbered, and
// gives the tensors between them places in one workspace, the arena; each device has its own. It knows manifests alone.
#pragma once

#include "module/manifest.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace ferry::graph {

// Memory of a tensor, or of several that are the same bytes.
struct Storage {
  enum class Kind : std::uint8_t { argument, constant, arena, part };
  Kind kind = Kind::arena;
  std::uint32_t index = 0;   // the number of the parameter or constant, or of the storage that this is a part of
  ManifestExpr bytes = {};   // the arena's size, over the network's symbols
  ManifestExpr offset = {};  // where a part begins in its storage, in bytes
  std::uint32_t device = 0;  // the device whose memory it is in; parts are where the storage that contains them is
  // A part that moves by a stride, in bytes, with each iteration of a loop; it begins at its offset.
  std::uint32_t loop = kNoMove;
  ManifestExpr stride = {};

  static constexpr std::uint32_t kNoMove = UINT32_MAX;
};

// Returns the storage that contains a part, through all parts of parts.
inline std::uint32_t whole_of(const std::vector<Storage>& storages, std::uint32_t storage) {
  while (storages.at(storage).kind == Storage::Kind::part) storage = storages[storage].index;
  return storage;
}

// One call of a kernel.
struct KernelCall {
  std::string node;                           // the name for messages
  const FunctionInfo* kernel = nullptr;       // its scalar parameters are int64
  std::map<std::string, ManifestExpr> sizes;  // its symbols and scalar parameters, over the network's symbols
  std::vector<std::uint32_t> storages;        // one for each tensor parameter, in their order
  std::vector<std::string> tensors = {};      // what the network calls them, for messages; empty: nothing
};

inline constexpr std::uint32_t kNoStorage = UINT32_MAX;

// A copy between two storages, or from kNoStorage, which is 0 everywhere.
struct StorageCopy {
  std::uint32_t to = 0, from = 0;
  ManifestExpr bytes;
  std::string name = {};  // the step's name, for people
};

// Begins the loop of this number. Storages that are also used before or behind the loop keep their contents from
// iteration to iteration; others share memory inside.
struct BeginLoop {
  std::uint32_t loop = 0;
  ManifestExpr count;
  std::string name;
  bool may_be_negative = false;  // calls are checked for a count below 0
  // Holds the condition, outside of what moves with iterations; kNoStorage: the loop has none.
  std::uint32_t condition = kNoStorage;
};
// Ends a loop of at least one step.
struct EndLoop {
  std::uint32_t loop = 0;
};

struct Composition {
  std::string name;
  std::vector<std::string> symbols;
  std::vector<ParameterInfo> parameters;
  std::vector<Precondition> preconditions = {};  // beside those of the kernels
  std::vector<Storage> storages = {};
  std::vector<std::variant<KernelCall, StorageCopy, BeginLoop, EndLoop>> steps;
  std::uint64_t alignment = 64;                      // where tensors in the arena begin
  std::map<std::string, std::int64_t> guesses = {};  // sizes that calls are likely to have, to choose places by
};

// Returns an expression over the kernel's symbols in terms of the network's. Throws CompileError where it is too long.
ManifestExpr of_network(const ManifestExpr& expr, const KernelCall& call);

// Throws CompileError where the function exceeds the limits of a manifest or a kernel's precondition can never hold.
FunctionInfo compose(const Composition& composition);

}  // namespace ferry::graph
