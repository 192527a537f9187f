#include "host/kernel/tensor_file.h"

#include "host/client/npy/npy.h"

namespace ferry {

TensorFile read_tensor(const std::string& file) {
  npy::Array array = npy::read(file);
  return {array.dtype, std::move(array.shape), std::move(array.bytes)};
}

void write_tensor(const std::string& file, DType dtype, const Shape& shape, const std::vector<std::uint8_t>& bytes) {
  npy::write(file, dtype, shape, bytes);
}

}  // namespace ferry
