// The kernels that the fake GPU has built in: those of the tests' module
// (tests/unit/device-runtime/support/gpu_module.cpp).
#include <cstdint>
#include <cstring>

#include "tests/support/fake_cuda/fake.h"

namespace ferry::fake {
namespace {

template <class T>
T value(void** parameters, int index) {
  T read{};
  std::memcpy(&read, parameters[index], sizeof read);
  return read;
}

std::int64_t threads_of(const Shape& shape) {
  std::int64_t threads = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) threads *= std::int64_t{shape.grid[axis]} * shape.block[axis];
  return threads;
}

float* floats(void** parameters, int index, std::int64_t count) {
  return static_cast<float*>(real(value<CuDevicePointer>(parameters, index), static_cast<std::size_t>(count) * 4));
}

void twice(const Shape& shape, void** parameters) {
  const auto n = value<std::int64_t>(parameters, 2);
  const float* a = floats(parameters, 0, n);
  float* w = floats(parameters, 1, n);
  if (a == nullptr || w == nullptr) return;
  for (std::int64_t i = 0; i < n && i < threads_of(shape); ++i) w[i] = 2 * a[i];
}

void reversed(const Shape& shape, void** parameters) {
  const auto n = value<std::int64_t>(parameters, 3);
  const float* w = floats(parameters, 0, n);
  float* c = floats(parameters, 1, n);
  const auto more = value<float>(parameters, 2);
  if (w == nullptr || c == nullptr) return;
  for (std::int64_t i = 0; i < n && i < threads_of(shape); ++i) c[n - 1 - i] = w[i] + more;
}

// A kernel that is declared to use many registers and much shared memory.
void heavy(const Shape& shape, void** parameters) { twice(shape, parameters); }

void judge(const Shape&, void** parameters) {
  auto* verdict = static_cast<std::int32_t*>(real(value<CuDevicePointer>(parameters, 0), sizeof(std::int32_t)));
  if (verdict != nullptr) *verdict = static_cast<std::int32_t>(value<std::int64_t>(parameters, 1) % 2);
}

void nothing(const Shape&, void**) {}

Kernel kernels[] = {{"nothing", {}, 1024, 8, 0, nothing},
                    {"judge", {8, 8}, 1024, 8, 0, judge},
                    {"twice", {8, 8, 8}, 1024, 16, 0, twice},
                    {"reversed", {8, 8, 4, 8}, 1024, 24, 64, reversed},
                    {"heavy", {8, 8, 8}, 384, 168, 40000, heavy}};

}  // namespace

Kernel* find_kernel(const std::string& name) {
  for (Kernel& kernel : kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace ferry::fake
