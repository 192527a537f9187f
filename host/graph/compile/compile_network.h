// Compiles a network to a module with one function: a kernel for each kind of group of nodes (passes/make_groups.h),
// and a plan that runs them.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/code_form.h"
#include "ferry/blob_source.h"
#include "ferry/target/target.h"
#include "host/graph/compile/graph_passes.h"
#include "host/graph/compile/tuned_algorithms.h"
#include "host/graph/graph.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferry::graph {

// The place in the cache for the module of one network, compiled with one set of options.
class CachedModuleSlot {
 public:
  virtual ~CachedModuleSlot() = default;
  // Returns nothing if there is none.
  virtual std::optional<std::vector<std::uint8_t>> load() const = 0;
  virtual void store(std::span<const std::uint8_t> module) const = 0;
};

struct NetworkOptions {
  std::map<std::string, std::int64_t> sizes = {};  // known sizes, by which schedules and algorithms are chosen
  std::string source = {};                         // stored in the module for people to read
  const CachedModuleSlot* cached = nullptr;        // null: compile without a cache
  CodeForm form = CodeForm::linked;
  const Target* init_target = nullptr;  // as of compile_module()
  Tuning tuned = {};                    // empty: kernels have their default schedules and algorithms
};

struct CompiledNetwork {
  std::vector<std::uint8_t> module;
  std::shared_ptr<const BlobSource> blobs;     // contents of the module's blobs; null if there are none
  std::vector<std::string> notes = {};         // what has another name, costs more than float32, or runs on the CPU
  std::vector<std::string> module_notes = {};  // as of ModuleBytes
  std::vector<std::string> tuned = {};         // one for each schedule that tuning has found: "conv_0: ..."
};

// The module has the names of the nodes that its steps compute. Throws CompileError, which names the node.
CompiledNetwork compile_network(const Graph& graph, const Target& target, const NetworkOptions& options = {});
// The same for what optimized() returned, perhaps with further outputs.
CompiledNetwork compile_optimized(const Graph& graph, const Target& target, const NetworkOptions& options = {});
// Returns the schedules of the kernels of such a network.
std::string schedule_text(const Graph& graph, const Target& target, const std::map<std::string, std::int64_t>& sizes,
                          const Tuning& tuning = {});

// One kernel of a network as loops, with its code for some sizes.
struct KernelLoops {
  std::vector<std::string> nodes;  // the kernel computes them in one call or several
  Target target;                   // describes the device that runs it
  std::vector<ir::Function> functions;
  std::vector<std::string> tuned = {};  // as of CompiledNetwork
};
// Returns the kernels of such a network, each once. Throws as above.
std::vector<KernelLoops> kernel_loops(const Graph& graph, const Target& target,
                                      const std::map<std::string, std::int64_t>& sizes, const Tuning& tuning = {});

// A kernel as a program by itself, with all sizes fixed, as tuned_kernels() looks for it.
struct KernelProgram {
  std::string kernel;  // its name in the network
  lang::Program program;
  std::vector<std::string> nodes;  // one for each call
  KernelAlgorithms algorithms = {};
};
// Returns the kernels of such a network on the target's device, each once, with the algorithms that tuning has found.
// Those whose sizes are not known, or passed as numbers in a call, are left out.
std::vector<KernelProgram> kernel_programs(const Graph& graph, const Target& target,
                                           const std::map<std::string, std::int64_t>& sizes, const Tuning& tuning = {});

}  // namespace ferry::graph
