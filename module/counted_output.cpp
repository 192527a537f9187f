#include "module/counted_output.h"

#include "base/format.h"
#include "module/step_description.h"

namespace ferry {

Result<std::vector<CountedOutput>> counted_outputs(const ModuleFile& module) {
  Result<StepDescriptions> read = read_descriptions(module);
  if (!read.is_ok()) return read.status();
  return std::move(read.value().counted);
}

Result<std::vector<std::uint8_t>> cut_to_shape(std::span<const std::uint8_t> bytes, std::size_t element_bytes,
                                               std::span<const std::int64_t> room,
                                               std::span<const std::int64_t> shape) {
  const auto refuse = [&] {
    return Status(ErrorCode::invalid_argument, "expected a shape of at most " + shape_text(DType::u8, room) + ", got " +
                                                   shape_text(DType::u8, shape));
  };
  if (room.size() != shape.size()) return refuse();
  std::size_t whole = element_bytes, kept = element_bytes;
  for (std::size_t d = 0; d < room.size(); ++d) {
    if (shape[d] < 0 || shape[d] > room[d]) return refuse();
    whole *= static_cast<std::size_t>(room[d]);
    kept *= static_cast<std::size_t>(shape[d]);
  }
  if (bytes.size() != whole) return refuse();
  std::vector<std::uint8_t> result;
  result.reserve(kept);
  if (kept == 0) return result;
  // Lines of the last dimension, in row-major order.
  const std::size_t rank = room.size();
  const std::size_t line = rank == 0 ? element_bytes : element_bytes * static_cast<std::size_t>(shape[rank - 1]);
  for (std::vector<std::int64_t> at(rank, 0);;) {
    std::size_t first = 0;
    for (std::size_t d = 0; d < rank; ++d)
      first = first * static_cast<std::size_t>(room[d]) + static_cast<std::size_t>(at[d]);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(first * element_bytes);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(line));
    std::size_t d = rank < 2 ? 0 : rank - 1;
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return result;
  }
}

}  // namespace ferry
