// Outputs whose sizes depend on data.
#pragma once

#include <cstring>
#include <vector>

#include "base/throw_status.h"
#include "host/client/npy/npy.h"
#include "module/counted_output.h"

namespace ferry::test {

// Leaves the elements of an output that its shape, another output, says are there.
inline void cut_output(npy::Array& output, const npy::Array& shape) {
  std::vector<std::int64_t> sizes(output.shape.size());
  std::memcpy(sizes.data(), shape.bytes.data(), shape.bytes.size());
  output.bytes = value_or_throw(cut_to_shape(output.bytes, dtype_bytes(output.dtype), output.shape, sizes));
  output.shape = sizes;
}

}  // namespace ferry::test
