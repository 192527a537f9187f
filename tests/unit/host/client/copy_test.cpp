// Tests of passing tensors of one device to another, which is refused, and of copying them, which works.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "ferry/compile.h"
#include "host/client/state.h"
#include "tests/unit/host/client/error_of.h"

using namespace ferry;
using test::error_of;

namespace {

constexpr const char* kKernels =
    "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }\n"
    "def doubled(float(N) A) -> (C) { C(i) = A(i) * 2.0 }\n";

std::vector<float> ramp(std::size_t size, float first = 0) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), first);
  return values;
}

struct TwoDevices {
  Device one = local_device(), two = local_device();
  Module on_two = two.load(compile(kKernels, target_of(two)));
};

}  // namespace

TEST_CASE_FIXTURE(TwoDevices, "a tensor of one device is refused by the functions of another, by name") {
  const std::vector<float> twos(4, 2), sevens(4, 7);
  const DeviceTensor a = one.put(view(twos, {4}));
  const DeviceTensor decoy = two.put(view(sevens, {4}));
  const Error error = error_of([&] { on_two["add"](a, decoy); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(std::string(error.what()) ==
        "add: argument 1 'A': expected a tensor of this machine and of the same session, got one of another session "
        "there; DeviceTensor::copy_to() brings it over");
  CHECK(error_of([&] { on_two["add"](decoy, decoy, one.empty(DType::f32, {4})); }).code() ==
        ErrorCode::invalid_argument);
  CHECK(error_of([&] { on_two["add"].bench(a, decoy); }).code() == ErrorCode::invalid_argument);
  CHECK(error_of([&] { on_two["add"].call_timed({a, decoy}); }).code() == ErrorCode::invalid_argument);
  CHECK(on_two["add"](a.copy_to(two), decoy).to_vector<float>() == std::vector<float>(4, 9));
}

TEST_CASE_FIXTURE(TwoDevices, "handles of one session mean nothing in another") {
  const DeviceTensor a = one.put(view(std::vector<float>(4, 2), {4}));
  const DeviceTensor decoy = two.put(view(std::vector<float>(4, 7), {4}));
  std::vector<std::uint8_t> into(16);
  const auto handle = detail::Access::state(a).handle;
  const Error error = error_of([&] { two.state()->client->send(rpc::Read{handle, 0, 16}, {}, into).get(); });
  CHECK(error.code() == ErrorCode::not_found);
  CHECK(std::string(error.what()) == "there is no buffer " + std::to_string(handle));
}

TEST_CASE_FIXTURE(TwoDevices, "calls of two devices are not measured in turns") {
  const Module on_one = one.load(compile(kKernels, target_of(one)));
  const std::vector<float> values(4, 1);
  const Error error = error_of(
      [&] { measure_in_turns({{on_one["doubled"], {values}}, {on_two["doubled"], {values}}}, BenchOptions()); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(std::string(error.what()).find("expected calls of one device to measure in turns, got doubled on") == 0);
}

TEST_CASE_FIXTURE(TwoDevices, "an empty tensor is refused as one of no device") {
  const Error error = error_of([&] { on_two["doubled"](DeviceTensor()); });
  CHECK(std::string(error.what()) ==
        "doubled: argument 1 'A': expected a tensor of this machine, got an empty one, of no device");
  CHECK(error_of([&] { (void)DeviceTensor().copy_to(two); }).code() == ErrorCode::invalid_argument);
  CHECK(error_of([&] { two.empty(DType::f32, {1}).copy_to(DeviceTensor()); }).code() == ErrorCode::invalid_argument);
}

TEST_CASE_FIXTURE(TwoDevices, "a copy within a device moves nothing through the client and waits for nothing") {
  const std::vector<float> values = ramp(1 << 20);
  const DeviceTensor from = one.put(view(values, {1 << 20})), to = one.empty(DType::f32, {1 << 20});
  one.synchronize();
  const std::uint64_t before = one.state()->client->round_trips();
  from.copy_to(to);
  CHECK(one.state()->client->round_trips() == before);
  CHECK(to.to_vector<float>() == values);
}

TEST_CASE_FIXTURE(TwoDevices, "a copy to another device has all pieces of a large tensor in their places") {
  const std::size_t size = (40 << 20) / 4 + 5;  // two whole chunks of 16 MiB and a part of one
  const std::vector<float> values = ramp(size);
  const DeviceTensor from = one.put(view(values, {static_cast<std::int64_t>(size)}));
  const DeviceTensor to = from.copy_to(two);
  CHECK(to.shape() == from.shape());
  CHECK(to.to_vector<float>() == values);
}

TEST_CASE_FIXTURE(TwoDevices, "copies from and to views with strides touch the elements alone") {
  const std::vector<float> values = ramp(96);
  const DeviceTensor whole = one.put(view(values, {96}));
  const DeviceTensor columns = whole.view({6, 4}, {16, 2});  // 0 2 4 6, 16 18 20 22, ...
  for (const Device* device : {&one, &two}) {
    CHECK(columns.copy_to(*device).to_vector<float>() == columns.to_vector<float>());
    const DeviceTensor target = device->put(view(std::vector<float>(96, -1), {96}));
    columns.copy_to(target.view({6, 4}, {16, 2}));
    std::vector<float> expected(96, -1);
    for (std::size_t row = 0; row < 6; ++row)
      for (std::size_t column = 0; column < 4; ++column)
        expected[row * 16 + column * 2] = static_cast<float>(row * 16 + column * 2);
    CHECK(target.to_vector<float>() == expected);
  }
}

TEST_CASE_FIXTURE(TwoDevices, "a part is copied over another part of the same tensor, where they overlap too") {
  const DeviceTensor whole = one.put(view(ramp(64), {64}));
  whole.view({32}).copy_to(whole.view({32}, {}, 16));
  std::vector<float> expected = ramp(64);
  std::iota(expected.begin() + 16, expected.begin() + 48, 0.0f);
  CHECK(whole.to_vector<float>() == expected);
}

TEST_CASE_FIXTURE(TwoDevices,
                  "copies between other dtypes and shapes are refused, and tensors without elements are fine") {
  const DeviceTensor from = one.filled(DType::f32, {2, 3}, FillKind::ones);
  const Error shape = error_of([&] { from.copy_to(two.empty(DType::f32, {3, 2})); });
  CHECK(shape.code() == ErrorCode::invalid_argument);
  CHECK(std::string(shape.what()) == "copy_to: expected a tensor of f32[2,3] to copy to, got f32[3,2]");
  CHECK(error_of([&] { from.copy_to(one.empty(DType::i32, {2, 3})); }).code() == ErrorCode::invalid_argument);
  CHECK(one.empty(DType::f32, {0, 3}).copy_to(two).shape() == Shape{0, 3});
}

TEST_CASE_FIXTURE(TwoDevices, "a copy that cannot be read is reported, and the other device goes on") {
  const DeviceTensor too_large = one.empty(DType::f32, {std::int64_t{1} << 50});
  const Error error = error_of([&] {
    too_large.view({1 << 20}).copy_to(two.empty(DType::f32, {1 << 20}));
    two.synchronize();
  });
  CHECK(error.code() == ErrorCode::resource_exhausted);
  CHECK(two.filled(DType::f32, {2}, FillKind::ones).to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE_FIXTURE(TwoDevices, "a copy to a tensor counts as a write to it") {
  const DeviceTensor constant = two.put(view(std::vector<float>(4, 1), {4})),
                     other = one.put(view(std::vector<float>(4, 5), {4}));
  const std::uint64_t before = *detail::Access::state(constant).version;
  other.copy_to(constant);
  CHECK(*detail::Access::state(constant).version > before);
  CHECK(on_two["doubled"](constant).to_vector<float>() == std::vector<float>(4, 10));
}
