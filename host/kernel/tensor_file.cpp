#include "host/kernel/tensor_file.h"

#include "base/error.h"
#include "host/npy/npy.h"

namespace ferry {

TensorFile read_tensor(const std::string& file) {
  try {
    npy::Array array = npy::read(file);
    return {array.dtype, std::move(array.shape), std::move(array.bytes)};
  } catch (const npy::Error& error) {
    throw UsageError(error.what());
  }
}

void write_tensor(const std::string& file, DType dtype, const Shape& shape, const std::vector<std::uint8_t>& bytes) {
  try {
    npy::write(file, dtype, shape, bytes);
  } catch (const npy::Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace ferry
