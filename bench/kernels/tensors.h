// The memory on which both sides of a comparison operate.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/kernels/ferry_kernel.h"
#include "bench/kernels/request.h"

namespace ferry::bench {

class Tensors {
 public:
  // Fills the inputs with random values. The kernel has one result, its last parameter.
  Tensors(const FerryKernel& kernel, const Request& request);

  // One address per parameter of ferry's kernel.
  std::vector<void*> for_ferry() const;
  // The inputs for peers and the reference, dense and row-major; images are NCHW.
  const std::vector<const void*>& plain_inputs() const { return plain_; }
  std::int64_t result_elements() const { return result_elements_; }
  // Returns ferry's result, dense and row-major.
  std::vector<std::uint8_t> ferry_result() const;

 private:
  struct FreeMemory {
    void operator()(void* memory) const;
  };
  using Memory = std::unique_ptr<void, FreeMemory>;
  void* take(std::uint64_t bytes);
  void block_inputs();

  Request request_;
  std::vector<Memory> owned_;
  std::vector<const void*> plain_;
  std::vector<void*> ferry_;
  std::int64_t result_elements_ = 1;
  std::size_t result_bytes_ = 0;
};

}  // namespace ferry::bench
