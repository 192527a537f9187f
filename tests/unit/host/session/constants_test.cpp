// Tests of constant arguments: what is precomputed from them, and when it is recomputed.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "ferry/compile.h"
#include "host/session/state.h"

using namespace ferry;

namespace {

// Rows are as long as a vector, so that the packed copy has another order and a missing copy is detected.
const char* const kSource = "def mm(float(M,K) A, const float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const char* const kSchedule =
    "B: cache_read global -> packed\npacked: transform_layout (k, n) -> (n / 16, k, n % 16)\n";
constexpr std::size_t kRows = 3, kDepth = 5, kColumns = 33;

struct Fixture {
  Device device = local_device();
  Module module = device.load(compile(kSource, target_of(device), ScheduleText{kSchedule}));
  std::vector<float> a = std::vector<float>(kRows * kDepth), b = std::vector<float>(kDepth * kColumns);

  Fixture() {
    std::iota(a.begin(), a.end(), 1.0f);
    std::iota(b.begin(), b.end(), -50.0f);
  }
  View rows() const { return view(a, {kRows, kDepth}); }
  View weights() const { return view(b, {kDepth, kColumns}); }
  std::vector<float> expected() const {
    std::vector<float> c(kRows * kColumns);
    for (std::size_t m = 0; m < kRows; ++m)
      for (std::size_t n = 0; n < kColumns; ++n)
        for (std::size_t k = 0; k < kDepth; ++k) c[m * kColumns + n] += a[m * kDepth + k] * b[k * kColumns + n];
    return c;
  }
  std::vector<float> product(const Argument& weights) const { return module["mm"](rows(), weights).to_vector<float>(); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a function that prepares its constants is called like any other") {
  CHECK(signature_text(module["mm"].info()) == "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)");
  CHECK(module.manifest().functions.size() == 1);
  CHECK(product(weights()) == expected());
  CHECK(product(device.put(weights())) == expected());
}

TEST_CASE_FIXTURE(Fixture, "a constant that is written to is prepared again") {
  DeviceTensor constant = device.put(weights());
  CHECK(product(constant) == expected());
  b[7] = 1000;
  constant.write(b.data());
  CHECK(product(constant) == expected());
  // A write through a view of the same memory.
  b[0] = -1000;
  constant.view({kDepth * kColumns}).write(b.data());
  CHECK(product(constant) == expected());
  // A write by a kernel.
  const Module other = device.load(compile("def raise(float(N) B) -> (B) { B(i) = B(i) + 1 }", target_of(device)));
  other["raise"].call({constant.view({kDepth * kColumns})});
  for (float& value : b) value += 1;
  CHECK(product(constant) == expected());
}

TEST_CASE_FIXTURE(Fixture, "a constant is prepared once, and each of several keeps its own") {
  const DeviceTensor first = device.put(weights());
  const std::vector<float> of_first = expected();
  CHECK(product(first) == of_first);
  for (float& value : b) value = -value;
  const DeviceTensor second = device.put(weights());
  CHECK(product(second) == expected());
  CHECK(product(first) == of_first);
  // The client does not know of this write, so the precomputed values are still used.
  const detail::TensorState& state = detail::Access::state(first);
  device.state()->client->post(rpc::Write{state.handle, 0},
                               {reinterpret_cast<const std::uint8_t*>(b.data()), b.size() * sizeof(float)});
  CHECK(product(first) == of_first);
}

TEST_CASE_FIXTURE(Fixture, "a first measurement with constants takes two round trips") {
  const Device fresh = local_device();
  const std::uint64_t before = fresh.state()->client->round_trips();
  const Module loaded = fresh.load(compile(kSource, target_of(device), ScheduleText{kSchedule}));
  BenchOptions options;
  options.repeat = 1;
  options.min_repeat_ms = options.warmup_ms = 0;
  const Timing timing = loaded["mm"].measure({rows(), weights()}, options);
  CHECK(timing.seconds.size() == 1);
  CHECK(fresh.state()->client->round_trips() - before == 2);
}
