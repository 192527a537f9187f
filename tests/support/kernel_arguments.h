// Memory for one call of a lowered function: every tensor is filled with seeded contents and laid out as the kernel ABI
// requires.
#pragma once

#include "crosscompile/ir/function.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ferry::test {

class KernelArguments {
 public:
  // `sizes` are by symbol name. Inputs get small random values, outputs a pattern that no kernel computes.
  KernelArguments(const ir::Function& function, const std::map<std::string, std::int64_t>& sizes,
                  std::uint64_t seed = 1);

  // The arguments as a kernel takes them (ferry/runtime_api.h).
  void* const* pointers() const { return pointers_.data(); }
  std::size_t count() const { return pointers_.size(); }

  template <class T>
  T* data(const std::string& parameter) {
    return reinterpret_cast<T*>(find(parameter).bytes.data());
  }
  // Number of elements of a tensor; with strides, the distance from its first to its last element plus one.
  std::int64_t size(const std::string& parameter) { return find(parameter).elements; }

 private:
  struct Memory {
    std::string name;
    std::vector<std::uint8_t> bytes;
    std::int64_t elements = 0;
  };
  Memory& find(const std::string& parameter);

  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<std::unique_ptr<std::int64_t>> symbols_;
  std::vector<void*> pointers_;
};

}  // namespace ferry::test
