// Tests of init plans that run in processes of their own, and of measurements of calls with what they computed.
#include <doctest/doctest.h>

#include "tests/unit/device-runtime/supervisor/instance_fixture.h"

namespace ferry::test {
namespace {

// With a place for one session, so that a process which has not ended would be noticed.
struct Fixture : InstanceFixture {
  rpc::Bind bind_of(const std::string& function, rpc::Handle constant, std::int64_t count = kSize) {
    return {client.new_handle(), module, function, {tensor(constant, {count})}};
  }

  // Measures a call, and returns why that was not isolated.
  std::string not_isolated(const std::string& function, const rpc::Bind& bound, rpc::Handle out, rpc::Handle in,
                           std::int64_t count) {
    rpc::Evaluate evaluate;
    evaluate.calls = {
        {module, function, {tensor(in, {count}), bound.constants[0], tensor(out, {count})}, bound.instance}};
    evaluate.options = {.number = 1, .repeat = 3, .min_repeat_ms = 0, .warmup_ms = 0};
    evaluate.options.isolated = true;
    return client.must(evaluate).reply.environment.not_isolated;
  }
};

TEST_CASE_FIXTURE(Fixture, "where an init plan ran in a process of its own, measurements are isolated") {
  // The last two have persistent buffers that are in shared memory from the beginning.
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{997}, std::int64_t{1 << 17}, std::int64_t{300'007}}) {
    CAPTURE(count);
    const auto size = static_cast<std::size_t>(count);
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i % 1009);
    const rpc::Handle constant = client.upload(values), ones = client.upload(std::vector<float>(size, 1)),
                      out = client.upload(std::vector<float>(size, -1));
    const rpc::Bind request = bind_of("doubling", constant, count);
    client.must(request);
    const std::string why = not_isolated("doubling", request, out, ones, count);
    if (is_native()) CHECK(why == "");
    const std::vector<float> sums = client.download<float>(out, size);
    for (std::size_t i = 0; i < size; ++i) REQUIRE(sums[i] == 1 + 2 * values[i]);
    client.must(rpc::Free{request.instance});
    for (const rpc::Handle handle : {constant, ones, out}) client.must(rpc::Free{handle});
  }
}

TEST_CASE_FIXTURE(Fixture, "what an init plan computed in a process of its own, any call reads") {
  const rpc::Bind doubled = bind_of("doubling", b), copied = bind_of("copying", b);
  client.must(doubled);
  client.must(copied);
  client.must(rpc::Fill{b, FillKind::ones, DType::f32, kSize, 0});
  CHECK(result(call_of("doubling", b, doubled.instance)) == 21);
  CHECK(result(call_of("copying", b, copied.instance)) == 11);
}

TEST_CASE_FIXTURE(Fixture, "an init plan fails in a process of its own for the same reasons") {
  rpc::Bind failing = bind_of("failing", b);
  failing.constants[0].shape = {2};
  CHECK(refusal(failing) == "failing: the second reason");
  CHECK(result(call_of("copying", b, bind("copying", b))) == 11);
  const Status status = client.ask(bind_of("crashing", b)).status;
  CHECK(status.code() == ErrorCode::kernel_crashed);
  CHECK_MESSAGE(status.message().find("crashing") != std::string::npos, status.message());
  CHECK_MESSAGE(status.message().find("SIGSEGV") != std::string::npos, status.message());
}

TEST_CASE_FIXTURE(Fixture, "an init plan in a process of its own reads large constants where they are") {
  constexpr std::int64_t kCount = 5 << 20;  // 20 MiB of the session's 64, and as much for the persistent buffer
  const rpc::Handle large = client.upload(std::vector<float>(kCount, 3));
  const rpc::Bind request = bind_of("doubling", large, kCount);
  client.must(request);
  // Where it had run in the session, no other function of the module would be isolated.
  const rpc::Bind small = bind_of("copying", b);
  client.must(small);
  const std::string why = not_isolated("copying", small, c, a, kSize);
  if (is_native()) CHECK(why == "");
  client.must(rpc::Free{request.instance});
  client.must(rpc::Free{large});
  CHECK(result(call_of("copying", b, bind("copying", b))) == 11);
}

}  // namespace
}  // namespace ferry::test
