// Tests of devices in the process of their client.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "ferry/client.h"
#include "ferry/compile.h"
#include "host/client/direct_call.h"

using namespace ferry;

namespace {

const char* const kText = "def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + 2 * B(i) }";

struct Arrays {
  std::vector<float> a, b, expected;
  explicit Arrays(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(static_cast<float>(i % 7) - 3);
      b.push_back(static_cast<float>(i % 5));
      expected.push_back(a[i] + 2 * b[i]);
    }
  }
};

session::DirectArgument memory_of(std::vector<float>& values) {
  return {{ParameterKind::tensor, DType::f32, {static_cast<std::int64_t>(values.size())}}, values.data()};
}

}  // namespace

TEST_CASE("a device in this process computes what others do, with memory that begins anywhere") {
  const Device device = connect("inproc://");
  CHECK(device.name() == "this process");
  const Target target = target_of(device);
  CHECK(target.text.find(" -unaligned-tensors") != std::string::npos);
  CHECK(ferry::target(target.text).text == target.text);
  const Function add = device.load(compile(kText, target))["add"];
  for (const std::size_t n : {1U, 5U, 1000U}) {
    Arrays arrays(n + 1);
    const View a{DType::f32, {static_cast<std::int64_t>(n)}, arrays.a.data() + 1};
    const View b{DType::f32, {static_cast<std::int64_t>(n)}, arrays.b.data() + 1};
    const DeviceTensor c = add(a, b);
    CHECK(c.to_vector<float>() == std::vector<float>(arrays.expected.begin() + 1, arrays.expected.end()));
    const auto* where = reinterpret_cast<const float*>(session::address_of(c));
    REQUIRE(where != nullptr);
    CHECK(where[n - 1] == arrays.expected[n]);
    CHECK(add.bench(a, b).median() > 0);
  }
}

TEST_CASE("views that a call is not given keep nothing of the caller's memory") {
  const Device device = connect("inproc://");
  const Function add = device.load(compile(kText, target_of(device)))["add"];
  Arrays arrays(100);
  const std::vector<Argument> kept = add.on_device({view(arrays.a, {100}), view(arrays.b, {100})});
  arrays.a.assign(100, 0);
  CHECK(add.call({kept[0], kept[1]}).front().to_vector<float>() == arrays.expected);
}

TEST_CASE("direct calls take other memory of the same sizes, and refuse what overlaps or is not aligned") {
  const Device device = connect("inproc://");
  const auto module = session::DirectModule::load(device, compile(kText, target_of(device)));
  REQUIRE(module != nullptr);
  CHECK(module->supports(0));
  Arrays arrays(33);
  std::vector<float> c(33), other(33);
  const std::vector<session::DirectArgument> arguments{memory_of(arrays.a), memory_of(arrays.b), memory_of(c)};
  const auto call = module->prepare(0, arguments);
  call->run();
  CHECK(c == arrays.expected);
  REQUIRE(call->is_movable());
  call->set_memory(2, other.data());
  call->check();
  call->run();
  CHECK(other == arrays.expected);
  call->set_memory(2, arrays.a.data() + 1);
  CHECK_THROWS_AS(call->check(), Error);
  const auto wrong = std::vector{memory_of(arrays.a), memory_of(arrays.b), memory_of(c)};
  auto shorter = wrong;
  shorter[1].shape.shape = {32};
  CHECK_THROWS_AS(module->prepare(0, shorter), Error);

  const auto aligned = session::DirectModule::load(device, compile(kText, target("host")));
  CHECK_FALSE(aligned->takes_unaligned());
  auto moved = wrong;
  moved[0].memory = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(c.data()) | 63) + 5);
  CHECK_THROWS_WITH_AS(aligned->prepare(0, moved),
                       "add: argument 1 'A': expected memory at a multiple of 64 bytes, as the module was compiled for "
                       "another device",
                       Error);
  CHECK(session::DirectModule::load(local_device(), compile(kText, target("host"))) == nullptr);
}
