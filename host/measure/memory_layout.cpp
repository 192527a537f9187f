#include "host/measure/memory_layout.h"

#include <random>

#include "ferry/error.h"
#include "module/manifest.h"

namespace ferry::bench {

namespace {

// Tensors are aligned to a cache line, on GPUs to 256 bytes.
constexpr std::uint64_t kLine = 64, kGpuLine = 256;
constexpr std::uint64_t kMostPages = 64;

// Returns a copy of the tensor at another address of the device's memory.
DeviceTensor moved(const Device& device, const DeviceTensor& from, std::uint64_t offset) {
  const auto element = static_cast<std::uint64_t>(dtype_bytes(from.dtype()));
  const DeviceTensor room = device.empty(from.dtype(), {static_cast<std::int64_t>(from.elements() + kPage / element)});
  const DeviceTensor to = room.view(from.shape(), {}, offset / element);
  if (from.bytes() > 0) from.copy_to(to);
  return to;
}

}  // namespace

MemoryLayout draw_memory_layout(stats::Random& random, bool on_gpu) {
  const std::uint64_t line = on_gpu ? kGpuLine : kLine;
  MemoryLayout layout;
  layout.memory_pages = random.below(kMostPages);
  for (std::size_t i = 0; i < kMaxParameters; ++i) layout.offsets.push_back(line * random.below(kPage / line));
  return layout;
}

DeviceTensor allocate_before(const Device& device, const MemoryLayout& layout) {
  return device.empty(DType::u8, {static_cast<std::int64_t>(layout.memory_pages * kPage)});
}

std::vector<Argument> arguments_at(const FunctionInfo& info, const CallPlan& plan, const Device& device,
                                   const MemoryLayout& layout, const Observer& observer) {
  const std::vector<Argument> inputs = make_arguments(info, plan, device, observer);
  std::vector<Argument> all;
  auto input = inputs.begin();
  std::random_device seed;  // a kernel that writes only a part of an output must not leave what is right
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    const ParameterInfo& parameter = info.parameters[p];
    const bool is_output = parameter.direction == Direction::out;
    Argument argument =
        is_output ? Argument(device.filled(plan.dtypes[p], plan.shapes[p], FillKind::random, seed())) : *input++;
    const auto* tensor = std::get_if<DeviceTensor>(&argument.value());
    const bool dense = plan.strides[p].empty();
    if (is_output && !dense) {
      throw UsageError(info.name + ": expected kernels whose outputs are dense, got strides for " + parameter.name);
    }
    const std::uint64_t offset = layout.offsets[p % layout.offsets.size()];
    all.push_back(tensor != nullptr && dense ? Argument(moved(device, *tensor, offset)) : argument);
  }
  return all;
}

}  // namespace ferry::bench
