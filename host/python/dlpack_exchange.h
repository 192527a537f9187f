// DLPack's functions of C (`__dlpack_c_exchange_api__` of a type, from version 1.3 on), which take a tenth of the time
// that `__dlpack__` takes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>

namespace ferry::python {

// As DLPack's DLManagedTensorVersioned. https://dmlc.github.io/dlpack/latest/c_api.html
struct ManagedTensor {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedTensor*);
  std::uint64_t flags;
  nanobind::dlpack::dltensor tensor;

  bool is_read_only() const { return (flags & 1) != 0; }
};

struct ReleaseTensor {
  void operator()(ManagedTensor* tensor) const {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};

// Keeps the memory, also of an object that has got other memory in the meantime. To be released with Python's lock.
using ExchangedTensor = std::unique_ptr<ManagedTensor, ReleaseTensor>;

// Returns null, with no exception set, for an object whose type has no such functions, or whose memory they would not
// describe.
ExchangedTensor exchanged_tensor(nanobind::handle value);

// The types that were seen are kept, and with one of the user's all that its module refers to, devices among it. After
// this call they are let go as Python ends.
void forget_types_at_exit();

}  // namespace ferry::python
