// Tests of kernels through a real server: calls, checks, measurements and refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

struct Fixture {
  TestServer server{{"--threads", "3", "--memory-limit", "64M"}};
  TestClient client{server.port()};
  rpc::Handle module = put(client, kit_file());

  Answer<rpc::CallReply> call(const std::string& function, std::vector<rpc::Argument> arguments) {
    return client.ask(rpc::Call{module, function, std::move(arguments)});
  }
  std::string refusal(const std::string& function, std::vector<rpc::Argument> arguments) {
    const auto answer = call(function, std::move(arguments));
    CHECK_FALSE(answer.status.is_ok());
    return answer.status.message();
  }
};

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

TEST_CASE_FIXTURE(Fixture, "a kernel with a parallel loop computes the right thing, for any size") {
  for (const std::size_t n : {1, 63, 64, 1000, 100'003}) {
    CAPTURE(n);
    const auto a = client.upload(numbers(n)), b = client.upload(std::vector<float>(n, 0.5F));
    const rpc::Handle c = client.new_handle();
    client.must(rpc::Alloc{c, n * 4, 0});
    const auto size = static_cast<std::int64_t>(n);
    const auto answer = call("add", {tensor(a, {size}), tensor(b, {size}), tensor(c, {size})});
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    const auto result = client.download<float>(c, n);
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) right = right && result[i] == static_cast<float>(i + 1) + 0.5F;
    CHECK(right);
    for (const rpc::Handle handle : {a, b, c}) client.must(rpc::Free{handle});
  }
}

TEST_CASE_FIXTURE(Fixture, "the steps of a function for a CPU are timed") {
  const auto a = client.upload(numbers(10));
  const rpc::TimeSteps request{{module, "scale", {scalar(2.0F), tensor(a, {10})}}, 3, false};
  const rpc::StepTimes times = client.must(request).reply;
  REQUIRE(times.steps.size() == 1);
  CHECK(times.steps[0].kind == StepKind::call);
  CHECK(times.steps[0].kernel == "scale");
  CHECK(times.steps[0].seconds.size() == 3);
  CHECK(client.download<float>(a, 10)[0] == 8.0F);
}

TEST_CASE_FIXTURE(Fixture, "the steps of a function are timed in as many threads and on the cores that are asked for") {
  const auto a = client.upload(numbers(1));
  rpc::TimeSteps request{{module, "parts", {tensor(a, {1})}}, 1, false};
  const auto parts = [&] {
    client.must(request);
    return client.download<float>(a, 1)[0];
  };
  CHECK(parts() > 1);
  request.threads = 1;
  CHECK(parts() == 1);
  request.threads = 0;
  request.cores = {0};
  CHECK(parts() == 1);
  request.cores = {};
  CHECK(parts() > 1);
  request.cores = {999};
  CHECK(client.ask(request).status.message() == "measure: expected cores that this session may use, got 999");
}

TEST_CASE_FIXTURE(Fixture, "the steps of a function for a CPU take longer with cold caches") {
  if (!is_native()) return;  // an emulator has no caches of its own
  constexpr std::size_t kElements = 16'384;
  const auto a = client.upload(std::vector<float>(kElements, 1.0F));
  const auto fastest = [&](bool cold) {
    const rpc::Call call{module, "scale", {scalar(1.0F), tensor(a, {kElements})}};
    const rpc::StepTimes times = client.must(rpc::TimeSteps{call, 50, cold}).reply;
    REQUIRE(times.steps.size() == 1);
    REQUIRE(times.steps[0].seconds.size() == 50);
    return *std::min_element(times.steps[0].seconds.begin(), times.steps[0].seconds.end());
  };
  const double warm = fastest(false), cold = fastest(true);
  CAPTURE(warm);
  CAPTURE(cold);
  CHECK(cold > warm);
}

TEST_CASE_FIXTURE(Fixture, "a call that repeats the one before computes anew") {
  const auto a = client.upload(std::vector<float>{1.0F, 2.0F});
  const auto scale = [&](float by, rpc::Handle of) {
    REQUIRE(call("scale", {scalar(by), tensor(of, {2})}).status.is_ok());
    return client.download<float>(of, 2);
  };
  CHECK(scale(3.0F, a) == std::vector<float>{3.0F, 6.0F});
  CHECK(scale(3.0F, a) == std::vector<float>{9.0F, 18.0F});
  CHECK(scale(2.0F, a) == std::vector<float>{18.0F, 36.0F});
  const auto b = client.upload(std::vector<float>{5.0F, 6.0F});
  CHECK(scale(2.0F, b) == std::vector<float>{10.0F, 12.0F});
  client.must(rpc::Free{a});
  CHECK(refusal("scale", {scalar(2.0F), tensor(a, {2})}).find("buffer") != std::string::npos);
  // Buffers of the same size may take the same addresses again.
  client.must(rpc::Free{b});
  const auto c = client.upload(std::vector<float>{7.0F, 8.0F});
  CHECK(scale(2.0F, c) == std::vector<float>{14.0F, 16.0F});
  CHECK(refusal("fail", {scalar(std::int64_t{2}), tensor(c, {1})}) == "fail: the second reason");
  CHECK(refusal("fail", {scalar(std::int64_t{2}), tensor(c, {1})}) == "fail: the second reason");
}

TEST_CASE_FIXTURE(Fixture, "scalars, inout tensors, sizes from scalars and workspaces reach the kernel") {
  const auto a = client.upload(numbers(10));
  REQUIRE(call("scale", {scalar(3.0F), tensor(a, {10})}).status.is_ok());
  CHECK(client.download<float>(a, 10)[9] == 30.0F);
  const auto answer = call("ramp", {scalar(std::int64_t{10}), tensor(a, {10})});
  REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
  CHECK(client.download<float>(a, 10)[9] == 9.0F);
}

TEST_CASE_FIXTURE(Fixture, "a workspace larger than the session's memory is refused before the kernel runs") {
  CHECK(call("ramp", {scalar(std::int64_t{1} << 40), tensor(1, {std::int64_t{1} << 40})}).status.code() !=
        ErrorCode::ok);
  const auto big = client.new_handle();
  client.must(rpc::Alloc{big, 40 << 20, 0});
  const std::int64_t n = 10 << 20;
  CHECK(call("ramp", {scalar(n), tensor(big, {n})}).status.code() == ErrorCode::resource_exhausted);
}

TEST_CASE_FIXTURE(Fixture, "a call keeps its workspace for one that repeats it, until the session needs the memory") {
  const std::int64_t n = 2 << 20;
  const rpc::Handle a = client.new_handle(), b = client.new_handle(), large = client.new_handle();
  for (const rpc::Handle handle : {a, b}) client.must(rpc::Alloc{handle, static_cast<std::uint64_t>(n) * 4, 0});
  const auto tally = [&](rpc::Handle into, std::int64_t size) {
    const auto answer = call("tally", {scalar(size), tensor(into, {size})});
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    return client.download<float>(into, static_cast<std::size_t>(size)).back();
  };
  CHECK(tally(a, n) == 1);
  CHECK(tally(a, n) == 2);
  CHECK(tally(b, n) == 1);
  CHECK(tally(a, n - 16) == 1);
  CHECK(tally(a, n) == 1);
  CHECK(tally(a, n) == 2);
  // The limit is 64 MiB: two buffers of 8, a workspace of 16 and this one are more.
  client.must(rpc::Alloc{large, 45 << 20, 0});
  CHECK(call("tally", {scalar(n), tensor(a, {n})}).status.code() == ErrorCode::resource_exhausted);
  client.must(rpc::Free{large});
  CHECK(tally(a, n) == 1);
  CHECK(tally(a, n) == 2);
  // A measurement has a workspace of its own, for which there is room.
  client.must(rpc::Alloc{large, 20 << 20, 0});
  client.must(rpc::TimeSteps{{module, "tally", {scalar(n), tensor(a, {n})}}, 1, false});
  CHECK(tally(a, n) == 1);
}

TEST_CASE_FIXTURE(Fixture, "views at multiples of 64 work, others and those beyond the buffer are refused") {
  const auto a = client.upload(numbers(64));
  const rpc::Handle c = client.new_handle();
  client.must(rpc::Alloc{c, 256, 0});
  REQUIRE(call("add", {tensor(a, {16}), tensor(a, {16}, DType::f32, 192), tensor(c, {16}, DType::f32, 128)})
              .status.is_ok());
  CHECK(client.download<float>(c, 64)[32] == 1.0F + 49.0F);
  CHECK(refusal("add", {tensor(a, {16}, DType::f32, 4), tensor(a, {16}), tensor(c, {16})}) ==
        "add: argument 1 'A': expected an offset that is a multiple of 64, got 4");
  CHECK(refusal("add", {tensor(a, {16}, DType::f32, 256), tensor(a, {16}), tensor(c, {16})}) ==
        "add: argument 1 'A': expected a buffer of at least 320 bytes, got 256");
  CHECK(refusal("add", {tensor(a, {65}), tensor(a, {65}), tensor(c, {65})}) ==
        "add: argument 1 'A': expected a buffer of at least 260 bytes, got 256");
  CHECK(
      call("add", {tensor(a, {16}, DType::f32, ~std::uint64_t{63}), tensor(a, {16}), tensor(c, {16})}).status.code() ==
      ErrorCode::invalid_argument);
}

TEST_CASE_FIXTURE(Fixture, "arguments that overlap are refused when the kernel writes one of them") {
  const auto overlap = [&](std::int64_t n, std::uint64_t b, std::uint64_t c) {
    const auto a = client.upload(numbers(64));
    return call("add", {tensor(a, {n}), tensor(a, {n}, DType::f32, b), tensor(a, {n}, DType::f32, c)}).status.message();
  };
  CHECK(overlap(16, 128, 0) == "add: arguments 1 'A' and 3 'C' overlap, and the function writes one of them");
  CHECK(overlap(32, 128, 64) == "add: arguments 1 'A' and 3 'C' overlap, and the function writes one of them");
  CHECK(overlap(16, 64, 64) == "add: arguments 2 'B' and 3 'C' overlap, and the function writes one of them");
  CHECK(overlap(16, 0, 64).empty());
  CHECK(overlap(16, 128, 64).empty());
}

TEST_CASE_FIXTURE(Fixture, "wrong arguments are refused in the manifest's terms") {
  const auto a = client.upload(numbers(16));
  CHECK(refusal("add", {tensor(a, {16})}) == "add: expected 3 arguments, got 1");
  CHECK(refusal("add", {tensor(a, {16}, DType::i32), tensor(a, {16}), tensor(a, {16})}) ==
        "add: argument 1 'A': expected f32[n], got i32[16]");
  CHECK(refusal("add", {tensor(a, {4, 4}), tensor(a, {16}), tensor(a, {16})}) ==
        "add: argument 1 'A': expected f32[n], got f32[4,4]");
  CHECK(refusal("add", {tensor(a, {16}), tensor(a, {8}), tensor(a, {16})}) ==
        "add: argument 2 'B': expected f32[16], got f32[8]");
  CHECK(refusal("scale", {tensor(a, {16}), tensor(a, {16})}).find("expected a scalar f32") != std::string::npos);
  CHECK(refusal("sub", {}).rfind("there is no function 'sub'; the module has add, scale, ramp, fail, say, ", 0) == 0);
  CHECK(client.ask(rpc::Call{99, "add", {}}).status.message() == "there is no module 99");
  CHECK(call("add", {tensor(98, {16}), tensor(a, {16}), tensor(a, {16})}).status.message() == "there is no buffer 98");
}

TEST_CASE_FIXTURE(Fixture, "tensors without elements need no buffer") {
  CHECK(call("add", {tensor(0, {0}), tensor(0, {0}), tensor(0, {0})}).status.is_ok());
}

TEST_CASE_FIXTURE(Fixture, "a result other than 0 is explained by the manifest's messages") {
  const auto a = client.upload(numbers(1));
  CHECK(refusal("fail", {scalar(std::int64_t{2}), tensor(a, {1})}) == "fail: the second reason");
  CHECK(refusal("fail", {scalar(std::int64_t{3}), tensor(a, {1})}) == "fail: the kernel failed: it returned 3");
  CHECK(refusal("fail", {scalar(std::int64_t{-1}), tensor(a, {1})}) == "fail: the kernel failed: it returned -1");
}

TEST_CASE_FIXTURE(Fixture, "outputs of a failed call cannot be read until they were written") {
  const auto a = client.upload(numbers(16)), b = client.upload(numbers(16)), c = client.upload(numbers(16));
  const std::uint64_t failed =
      client.send(rpc::Call{module, "add", {tensor(a, {16}), tensor(b, {15}), tensor(c, {16})}});
  const std::uint64_t next = client.send(rpc::Call{module, "scale", {scalar(2.0F), tensor(c, {16})}});
  const std::uint64_t read = client.send(rpc::Read{c, 0, 64});
  const std::uint64_t input = client.send(rpc::Read{a, 0, 64});
  CHECK(client.receive<rpc::Call>(failed).status.code() == ErrorCode::invalid_argument);
  const auto scaled = client.receive<rpc::Call>(next);
  CHECK(scaled.status.code() == ErrorCode::aborted);
  CHECK(scaled.failed_request == failed);
  CHECK(client.receive<rpc::Read>(read).failed_request == failed);
  CHECK(client.receive<rpc::Read>(input).status.is_ok());
  CHECK(call("add", {tensor(a, {16}), tensor(b, {16}), tensor(c, {16})}).status.is_ok());
  CHECK(client.download<float>(c, 16)[15] == 32.0F);
}

TEST_CASE_FIXTURE(Fixture, "what a kernel prints reaches the client before the answer") {
  REQUIRE(call("say", {}).status.is_ok());
  CHECK(client.logged() == "hello from a kernel");
}

TEST_CASE_FIXTURE(Fixture, "evaluate brings back raw samples and how they were taken") {
  rpc::Evaluate request;
  request.calls = {{module, "spin", {scalar(std::int64_t{20'000})}}};
  request.options = {.number = 3, .repeat = 5, .min_repeat_ms = 0, .warmup_ms = 0};
  const auto first = client.must(request).reply;
  REQUIRE(first.calls.size() == 1);
  CHECK(first.calls[0].seconds.size() == 5);
  CHECK(first.calls[0].number == 3);
  CHECK(first.calls[0].warmup_calls == 0);
  CHECK(first.environment.threads == 3);
  for (const double seconds : first.calls[0].seconds) CHECK(seconds > 0);
  request.options.min_repeat_ms = 20;
  request.options.warmup_ms = 5;
  request.options.repeat = 2;
  const Samples second = client.must(request).reply.calls.at(0);
  CHECK(second.seconds.size() == 2);
  CHECK(second.warmup_calls >= 1);
  for (const double seconds : second.seconds) CHECK(seconds * static_cast<double>(second.number) >= 0.02);
  request.options.repeat = 0;
  CHECK(client.ask(request).status.message() == "measure: expected a repeat of 1 to 1000000, got 0");
}

TEST_CASE_FIXTURE(Fixture, "evaluate takes samples of several calls in turns and tells the environment") {
  rpc::Evaluate request;
  request.calls = {{module, "spin", {scalar(std::int64_t{20'000})}}, {module, "spin", {scalar(std::int64_t{80'000})}}};
  request.options.repeat = 12;
  request.options.number = 0;
  request.options.threads = 1;
  request.options.cores = {0};
  request.options.watch = {"/proc/loadavg", "/sys/there/is/none"};
  const auto reply = client.must(request).reply;
  REQUIRE(reply.calls.size() == 2);
  CHECK(reply.environment.threads == 1);
  CHECK(reply.environment.elapsed_s > 0);
  CHECK(reply.environment.clock_resolution_ns >= 1);
  REQUIRE(reply.environment.watched.size() == 1);
  CHECK(reply.environment.watched[0].path == "/proc/loadavg");
  const auto fastest = [&](std::size_t w) {
    double least = 1;
    for (const double seconds : reply.calls[w].seconds) least = std::min(least, seconds);
    return least;
  };
  CHECK(fastest(0) < fastest(1));
  for (const std::uint32_t core : reply.calls[0].cores) CHECK(core == 0);
}

TEST_CASE_FIXTURE(Fixture, "evaluate refuses what does not fit, by name") {
  rpc::Evaluate request;
  CHECK(client.ask(request).status.message() ==
        "measure: expected 1 to 8 calls and at most 60000 samples of all, got 0 calls of 10 samples");
  request.calls = {{module, "spin", {scalar(std::int64_t{20})}}};
  request.options.repeat = 60'001;
  CHECK(client.ask(request).status.code() == ErrorCode::invalid_argument);
  request.options.repeat = 1;
  request.options.cores = {999};
  CHECK(client.ask(request).status.message() == "measure: expected cores that this session may use, got 999");
  request.options.cores = {};
  request.options.min_repeat_ms = 0;
  request.options.number = 3;
  request.options.cold = true;
  CHECK(client.ask(request).status.code() == ErrorCode::invalid_argument);
  request.options.number = 1;
  CHECK(client.ask(request).status.is_ok());
  const auto a = client.upload(numbers(1));
  request.calls.push_back({module, "fail", {scalar(std::int64_t{2}), tensor(a, {1})}});
  CHECK(client.ask(request).status.message() == "fail: the second reason");
}

TEST_CASE_FIXTURE(Fixture, "files that describe the device can be read, others cannot") {
  const auto reply = client.must(rpc::ReadFiles{{"/proc/cpuinfo", "/etc/passwd", "/proc/none"}}).reply;
  REQUIRE(reply.texts.size() == 3);
  CHECK_FALSE(reply.texts[0].empty());
  CHECK(reply.texts[1].empty());
  CHECK(reply.texts[2].empty());
}

TEST_CASE_FIXTURE(Fixture, "measuring a kernel that fails says so") {
  const auto a = client.upload(numbers(1));
  rpc::Evaluate request;
  request.calls = {{module, "fail", {scalar(std::int64_t{1}), tensor(a, {1})}}};
  CHECK(client.ask(request).status.message() == "fail: the first reason");
}

TEST_CASE_FIXTURE(Fixture, "a call tells how long the kernel ran") {
  const auto slow = call("spin", {scalar(std::int64_t{3'000'000})}), fast = call("spin", {scalar(std::int64_t{1})});
  CHECK(slow.reply.elapsed_ns > 100'000);
  CHECK(fast.reply.elapsed_ns < slow.reply.elapsed_ns);
}

}  // namespace
}  // namespace ferry::test
