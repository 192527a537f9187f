// The memory contract that every device must meet.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>

#include "tests/conformance/device/devices.h"
#include "tests/support/seeded.h"

namespace ferry::device {
namespace {

std::vector<std::uint8_t> contents(Device& device, void* memory, std::size_t bytes) {
  std::vector<std::uint8_t> data(bytes, 0x5a);
  CHECK(device.read(memory, 0, data).is_ok());
  return data;
}

TEST_CASE("memory is zeroed, aligned and counted, in all sizes") {
  for_each_device([](TestedDevice& tested) {
    Device& device = *tested.device;
    MemoryBudget& budget = *tested.budget;
    for (const std::uint64_t bytes : {1, 63, 64, 100, 131071, 131072, 131073, 5'000'000}) {
      CAPTURE(bytes);
      const auto memory = device.allocate(bytes);
      REQUIRE(memory.is_ok());
      CHECK(reinterpret_cast<std::uintptr_t>(memory.value()) % 64 == 0);
      CHECK(budget.used() == bytes);
      const auto size = static_cast<std::size_t>(bytes);
      CHECK(contents(device, memory.value(), size) == std::vector<std::uint8_t>(size));
      const std::vector<std::uint8_t> ones(size, 0xff);
      CHECK(device.write(memory.value(), 0, ones).is_ok());
      CHECK(contents(device, memory.value(), size) == ones);
      device.release(memory.value(), bytes);
      CHECK(budget.used() == 0);
    }
  });
}

TEST_CASE("no bytes need no memory, and too many are refused without taking any") {
  for_each_device([](TestedDevice& tested) {
    Device& device = *tested.device;
    MemoryBudget& budget = *tested.budget;
    const auto nothing = device.allocate(0);
    REQUIRE(nothing.is_ok());
    CHECK(nothing.value() == nullptr);
    device.release(nullptr, 0);
    CHECK(device.allocate((10 << 20) + 1).status().code() == ErrorCode::resource_exhausted);
    CHECK(device.allocate(~std::uint64_t{0}).status().code() == ErrorCode::resource_exhausted);
    CHECK(budget.used() == 0);
  });
}

TEST_CASE("copies may overlap and fills are seeded") {
  for_each_device([](TestedDevice& tested) {
    Device& device = *tested.device;
    const auto memory = device.allocate(4000);
    REQUIRE(memory.is_ok());
    REQUIRE(device.fill(memory.value(), FillKind::iota, 0, DType::i32, 1000).is_ok());
    REQUIRE(device.copy(memory.value(), 4, memory.value(), 0, 3996).is_ok());
    REQUIRE(device.copy(memory.value(), 0, memory.value(), 0, 0).is_ok());
    std::int32_t numbers[1000];
    std::memcpy(numbers, contents(device, memory.value(), sizeof numbers).data(), sizeof numbers);
    CHECK(numbers[0] == 0);
    CHECK(numbers[1] == 0);
    CHECK(numbers[999] == 998);
    // Partial accesses, also at an offset into the buffer.
    const std::vector<std::uint8_t> part(300, 7);
    REQUIRE(device.write(static_cast<char*>(memory.value()) + 1000, 24, part).is_ok());
    const std::vector<std::uint8_t> all = contents(device, memory.value(), 4000);
    CHECK(std::vector<std::uint8_t>(all.begin() + 1024, all.begin() + 1324) == part);
    CHECK(all[1324] != 7);
    device.release(memory.value(), 4000);
  });
}

TEST_CASE("large contents go there and come back piece by piece, and a piece that fails ends it") {
  for_each_device([](TestedDevice& tested) {
    Device& device = *tested.device;
    // The size is not a multiple of any transfer chunk.
    constexpr std::size_t kBytes = (9 << 20) + 12345;
    const auto memory = device.allocate(kBytes);
    REQUIRE(memory.is_ok());
    test::Seeded seeded(1);
    std::vector<std::uint8_t> sent, received;
    const auto fill = [&](std::span<std::uint8_t> piece) {
      for (std::uint8_t& byte : piece) byte = seeded.byte();
      sent.insert(sent.end(), piece.begin(), piece.end());
      return Status();
    };
    REQUIRE(device.write_pieces(memory.value(), 0, kBytes, fill).is_ok());
    REQUIRE(sent.size() == kBytes);
    const auto take = [&](std::span<const std::uint8_t> piece) {
      received.insert(received.end(), piece.begin(), piece.end());
      return Status();
    };
    REQUIRE(device.read_pieces(memory.value(), 0, kBytes, take).is_ok());
    CHECK(received == sent);
    received.clear();
    REQUIRE(device.read_pieces(memory.value(), 777, 1000, take).is_ok());
    CHECK(std::equal(received.begin(), received.end(), sent.begin() + 777));
    CHECK(received.size() == 1000);
    const Status lost(ErrorCode::unavailable, "lost");
    CHECK(device.write_pieces(memory.value(), 0, kBytes, [&](auto) { return lost; }).message() == "lost");
    CHECK(device.read_pieces(memory.value(), 0, kBytes, [&](auto) { return lost; }).message() == "lost");
    CHECK(contents(device, memory.value(), kBytes) == sent);
    device.release(memory.value(), kBytes);
  });
}

TEST_CASE("caches can be wiped again and again without harm to memory") {
  for_each_device([](TestedDevice& tested) {
    Device& device = *tested.device;
    const auto memory = device.allocate(1000);
    REQUIRE(memory.is_ok());
    REQUIRE(device.fill(memory.value(), FillKind::ones, 0, DType::u8, 1000).is_ok());
    const auto bytes = device.prepare_wiping();
    REQUIRE_MESSAGE(bytes.is_ok(), bytes.status().message());
    CHECK((bytes.value() != 0) == (tested.module != nullptr));
    CHECK(device.prepare_wiping().value() == bytes.value());
    for (int i = 0; i < 3 && bytes.value() != 0; ++i) device.wipe_caches();
    CHECK(contents(device, memory.value(), 1000) == std::vector<std::uint8_t>(1000, 1));
    device.release(memory.value(), 1000);
  });
}

}  // namespace
}  // namespace ferry::device
