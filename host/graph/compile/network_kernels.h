// The kernels of a network, each of them once.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/graph/kernels/kernel_key.h"
#include "host/graph/plan/network_function.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::graph {

// The indices of a module's devices: that of the target, and of a network that is divided the CPU beside it.
inline constexpr std::uint32_t kTargetDevice = 0, kHostDevice = 1;

struct GroupCall {
  Group group;
  std::size_t kernel = 0;           // index into the programs
  std::vector<Size> sizes;          // as of GroupKernel
  std::vector<TensorId> arguments;  // as of GroupKernel, without an input that the result replaces
};

struct NetworkKernels {
  std::vector<lang::Program> programs;  // with different names: "conv_relu_0"
  std::vector<KernelKey> keys;          // one for each program
  std::vector<std::size_t> first_call;  // by program
  std::vector<GroupCall> calls;         // one for each group, in their order
  // For each program the reason why it runs on the CPU beside a GPU; empty if it runs on the target's device.
  std::vector<std::string> why_on_host;

  std::uint32_t device_of(std::size_t kernel) const {
    return why_on_host[kernel].empty() ? kTargetDevice : kHostDevice;
  }
};

// The kernels, and where the tensors are that they read and write.
struct PlacedKernels {
  TensorStorages storages;
  NetworkKernels kernels;
};

// `sizes` are those of the network's symbols that are known; kernels are scheduled for them. A kernel whose every call
// reads the same input for the last time computes its result in that input's memory: residuals, say. `why_on_host` is
// empty or has an entry for each program. A tensor is on the device of the kernels that write it, or read it if it is a
// constant; on the target's if they run on both. Throws CompileError, which names the nodes.
PlacedKernels kernels_of(const Graph& graph, const std::vector<Group>& groups,
                         const std::map<std::string, std::int64_t>& sizes, std::vector<std::string> why_on_host = {});

// Returns the sizes of a kernel's symbols for which it is scheduled; none if they are unknown.
std::map<std::string, std::int64_t> hints_for(const NetworkKernels& kernels, std::size_t kernel);

// The values of knobs in the order of a default schedule's decisions, as PointText::in_order.
using PointValues = std::vector<std::string>;

// A kernel's code for the sizes that the network is likely to have, beside that for any sizes.
struct SizedKernel {
  lang::Program program;  // without symbols
  PointValues point;
};

// The results of tuning for a kernel.
struct TunedKernel {
  std::vector<std::string> notes = {};    // say where they come from
  std::optional<PointValues> point = {};  // for the kernel as it is
  std::optional<SizedKernel> sized = {};
};

// One kernel as loops, under its tuned or default schedule, and its code for some sizes.
struct LoweredKernel {
  std::vector<lang::Program> programs;  // the kernel's, then that for some sizes
  std::vector<schedule::Schedule> schedules;
  std::vector<ir::Function> functions;
};
LoweredKernel lower_kernel(const NetworkKernels& kernels, std::size_t kernel, const Target& target,
                           const TunedKernel& tuned = {});

// A kernel's schedule has a comment for each of its notes, from which tuned_notes() returns them.
std::string tuned_line(const std::string& note);
std::vector<std::string> tuned_notes(std::string_view schedule);

// The kernels as loops, by device, and the text of their schedules.
struct LoweredKernels {
  std::array<std::vector<ir::Function>, 2> functions;
  std::string schedule;
};

// `tuned` is empty or has an entry for each kernel. Throws as above.
LoweredKernels lower_kernels(const Graph& graph, const NetworkKernels& kernels, const Target& target,
                             const std::vector<TunedKernel>& tuned = {});

}  // namespace ferry::graph
