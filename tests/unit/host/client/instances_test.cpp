// Tests of instances: what is computed from constants once, and when it is computed again.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "ferry/compile.h"
#include "host/client/state.h"

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
  std::size_t instances() const { return device.state()->modules.front()->instances.size(); }
  std::vector<float> product(const Argument& weights) const { return module["mm"](rows(), weights).to_vector<float>(); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a function with an init plan is called like any other") {
  CHECK(signature_text(module["mm"].info()) == "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)");
  CHECK(module.manifest().functions.size() == 1);
  CHECK(needs_instance(module["mm"].info()));
  CHECK(product(weights()) == expected());
  CHECK(product(device.put(weights())) == expected());
}

TEST_CASE_FIXTURE(Fixture, "a call binds again after a write to a constant") {
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
  // A copy from another tensor.
  for (float& value : b) value *= 2;
  device.put(weights()).copy_to(constant);
  CHECK(product(constant) == expected());
}

TEST_CASE_FIXTURE(Fixture, "constants are bound once, and instances live side by side") {
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

TEST_CASE_FIXTURE(Fixture, "an instance is bound ahead, takes the other arguments, and binds again after a write") {
  DeviceTensor constant = device.put(weights());
  const Instance instance = module["mm"].bind({constant});
  CHECK(instances() == 1);
  const std::vector<float> first = expected();
  CHECK(instance(rows()).to_vector<float>() == first);
  const DeviceTensor out = device.empty(DType::f32, {kRows, kColumns});
  CHECK(instance.call({rows(), out}).front().to_vector<float>() == first);
  CHECK(product(constant) == first);
  CHECK(instances() == 1);
  for (float& value : b) value = -value;
  const Instance other = module["mm"].bind({weights()});
  CHECK(other(rows()).to_vector<float>() == expected());
  CHECK(instance(rows()).to_vector<float>() == first);
  CHECK(instances() == 2);
  constant.write(b.data());
  CHECK(instance(rows()).to_vector<float>() == expected());
  CHECK(instances() == 2);
  BenchOptions options;
  options.repeat = 2;
  options.min_repeat_ms = options.warmup_ms = 0;
  CHECK(instance.measure({rows()}, options).seconds.size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "an instance is released with its last copy") {
  {
    const Instance instance = module["mm"].bind({weights()});
    const Instance copy = instance;
    CHECK(instances() == 1);
  }
  CHECK(instances() == 0);
  device.synchronize();
}

TEST_CASE_FIXTURE(Fixture, "an instance is bound to tensors with the types and sizes of the function's constants") {
  const Function mm = module["mm"];
  CHECK_THROWS_WITH_AS(mm.bind({}), (signature_text(mm.info()) + ": expected 1 constants, got 0").c_str(), Error);
  CHECK_THROWS_WITH_AS(mm.bind({weights(), rows()}),
                       (signature_text(mm.info()) + ": expected 1 constants, got 2").c_str(), Error);
  CHECK_THROWS_WITH_AS(mm.bind({b}), "mm: constant 'B': expected a tensor of the device or a view with a shape", Error);
  CHECK_THROWS_WITH_AS(mm.bind({view(b, {kDepth * kColumns})}), "mm: argument 2 'B': expected f32[K,N], got f32[165]",
                       Error);
  CHECK_THROWS_WITH_AS(mm.bind({device.empty(DType::i32, {2, 3})}),
                       "mm: argument 2 'B': expected f32[K,N], got i32[2,3]", Error);
  CHECK_THROWS_AS(mm.bind({local_device().put(weights())}), Error);
  const Instance instance = mm.bind({weights()});
  CHECK_THROWS_WITH_AS(instance(view(a, {kDepth, kRows})), "mm: argument 2 'B': expected f32[3,33], got f32[5,33]",
                       Error);
}

TEST_CASE_FIXTURE(Fixture, "a function whose calls compute all is bound to its constants, too") {
  const Module plain = device.load(compile(kSource, target_of(device), ScheduleText{"C: split n 8\n"}));
  CHECK_FALSE(needs_instance(plain["mm"].info()));
  CHECK(plain["mm"].bind({weights()})(rows()).to_vector<float>() == expected());
}

TEST_CASE("an init plan that fails is tried again by the next call") {
  const Device device = local_device();
  const Module module = device.load(
      compile("def f(const int(N) K, const int(M) I, int(M) X) -> (B) { T(i) = K(I(i)) B(i) = T(i) + X(i) }",
              target_of(device), ScheduleText{"B: split i 4\n"}));
  const Function f = module["f"];
  REQUIRE(needs_instance(f.info()));
  const std::vector<std::int32_t> k = {10, 20, 30}, x = {1, 2, 3, 4}, sums = {11, 32, 23, 34};
  std::vector<std::int32_t> i = {0, 2, 3, 2};
  DeviceTensor table = device.put(view(k, {3})), places = device.put(view(i, {4}));
  const Instance instance = f.bind({table, places});
  for (int call = 0; call < 2; ++call)
    CHECK_THROWS_WITH_AS(instance(view(x, {4})), doctest::Contains("'T' reads 'K' outside its shape"), Error);
  i[2] = 1;
  places.write(i.data());
  CHECK(instance(view(x, {4})).to_vector<std::int32_t>() == sums);
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
