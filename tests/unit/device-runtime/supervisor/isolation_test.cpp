// Tests of measurements whose calls run in processes of their own.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/device-runtime/support/next_session.h"
#include "tests/unit/device-runtime/support/test_client.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return values;
}

struct Fixture {
  TestServer server;
  TestClient client;
  rpc::Handle module;
  explicit Fixture(const std::vector<std::string>& arguments = {"--threads", "2", "--sessions", "1"})
      : server(arguments), client(server.port()), module(put(client, kit_file())) {}

  rpc::Evaluate evaluation(const std::string& function, std::vector<rpc::Argument> arguments) const {
    rpc::Evaluate request;
    request.calls = {{module, function, std::move(arguments)}};
    request.options = {.number = 1, .repeat = 3, .min_repeat_ms = 0, .warmup_ms = 0};
    request.options.isolated = true;
    return request;
  }
};

// Emulators do not confine processes.
bool is_isolated(const TimingEnvironment& environment) {
  if (environment.isolation != TimingIsolation::none) {
    CHECK(environment.isolation == possible_isolation());
    CHECK(environment.not_isolated == "");
    return true;
  }
  CHECK_FALSE(environment.not_isolated.empty());
  CHECK_MESSAGE(!is_native(), environment.not_isolated);
  return false;
}

TEST_CASE_FIXTURE(Fixture, "tensors of less than 4 MiB do not lack huge pages") {
  constexpr std::int64_t kCount = 500'003;
  const auto a = client.upload(numbers(kCount)), c = client.upload(numbers(kCount));
  rpc::Evaluate request = evaluation("add", {tensor(a, {kCount}), tensor(a, {kCount}), tensor(c, {kCount})});
  CHECK_FALSE(client.must(request).reply.environment.small_pages);
}

TEST_CASE_FIXTURE(Fixture, "large tensors have small pages where the facts of the device say so") {
  constexpr std::int64_t kCount = 2 << 20;
  const auto a = client.upload(numbers(kCount)), c = client.upload(numbers(kCount));
  const auto answer = client.must(evaluation("add", {tensor(a, {kCount}), tensor(a, {kCount}), tensor(c, {kCount})}));
  if (!is_isolated(answer.reply.environment)) return;
  CHECK(answer.reply.environment.small_pages == client.facts().small_pages);
}

TEST_CASE_FIXTURE(Fixture, "isolated calls write the client's tensors and are timed") {
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{2'000'003}}) {
    CAPTURE(count);
    for (const std::uint32_t threads : {1U, 2U}) {
      const auto a = client.upload(numbers(count)), b = client.upload(numbers(count));
      const auto c = client.upload(std::vector<float>(static_cast<std::size_t>(count), -1));
      rpc::Evaluate request = evaluation("add", {tensor(a, {count}), tensor(b, {count}), tensor(c, {count})});
      request.options.threads = threads;
      request.options.poison = {7, 7};
      const auto reply = client.must(request).reply;
      is_isolated(reply.environment);
      CHECK(reply.environment.threads == threads);
      REQUIRE(reply.calls.at(0).seconds.size() == 3);
      for (const double seconds : reply.calls[0].seconds) CHECK(seconds > 0);
      CHECK(reply.calls[0].unwritten == 0);
      const auto sums = client.download<float>(c, static_cast<std::size_t>(count));
      for (std::int64_t i = 0; i < count; ++i) {
        REQUIRE(sums[static_cast<std::size_t>(i)] == static_cast<float>(i) + static_cast<float>(i));
      }
      for (const rpc::Handle buffer : {a, b, c}) client.must(rpc::Free{buffer});
    }
  }
}

TEST_CASE("tensors of which a session has no memory for copies are measured where they are") {
  constexpr std::int64_t kCount = 5 << 20;  // 20 MiB each
  Fixture fixture({"--threads", "2", "--sessions", "1", "--memory-limit", "64M"});
  TestClient& client = fixture.client;
  const auto a = client.upload(std::vector<float>(kCount, 3)), c = client.upload(std::vector<float>(kCount, -1));
  rpc::Evaluate request = fixture.evaluation("add", {tensor(a, {kCount}), tensor(a, {kCount}), tensor(c, {kCount})});
  request.options.poison = {7, 7};
  request.options.fresh_inputs = true;
  for (int i = 0; i < 2; ++i) {
    const auto reply = client.must(request).reply;
    is_isolated(reply.environment);
    CHECK_FALSE(reply.environment.fresh_inputs);  // new ones take copies
    CHECK(reply.calls.at(0).unwritten == 0);
    const auto sums = client.download<float>(c, kCount);
    CHECK(std::ranges::count(sums, 6.0F) == kCount);
  }
  CHECK(std::ranges::count(client.download<float>(a, kCount), 3.0F) == kCount);
}

TEST_CASE_FIXTURE(Fixture, "several isolated calls are timed in turns, each in a process of its own") {
  rpc::Evaluate request = evaluation("spin", {scalar(std::int64_t{20'000})});
  request.calls.push_back({module, "spin", {scalar(std::int64_t{80'000})}});
  request.options.number = 0;
  request.options.repeat = 12;
  request.options.threads = 1;
  const auto reply = client.must(request).reply;
  REQUIRE(reply.calls.size() == 2);
  is_isolated(reply.environment);
  const auto fastest = [&](std::size_t w) {
    return *std::min_element(reply.calls[w].seconds.begin(), reply.calls[w].seconds.end());
  };
  CHECK(fastest(0) < fastest(1));
}

TEST_CASE_FIXTURE(Fixture, "what an isolated kernel prints reaches the client, and how often it failed to") {
  client.must(evaluation("say", {}));
  CHECK(client.logged().find("hello from a kernel") != std::string::npos);
  const auto one = client.upload(numbers(1));
  CHECK(client.ask(evaluation("fail", {scalar(std::int64_t{2}), tensor(one, {1})})).status.message() ==
        "fail: the second reason");
  // The session goes on.
  CHECK(client.ask(evaluation("fail", {scalar(std::int64_t{0}), tensor(one, {1})})).status.is_ok());
}

TEST_CASE_FIXTURE(Fixture, "what ran in the session's own process is told with each measurement after it") {
  const auto x = client.upload(numbers(3)), y = client.upload(numbers(3));
  const rpc::Evaluate request = evaluation("add", {tensor(x, {3}), tensor(x, {3}), tensor(y, {3})});
  if (!is_isolated(client.must(request).reply.environment)) return;
  is_isolated(client.must(request).reply.environment);  // it ran elsewhere
  // The same code under another handle.
  client.must(rpc::Call{put(client, kit_file()), "add", request.calls[0].arguments});
  const TimingEnvironment environment = client.must(request).reply.environment;
  CHECK(environment.isolation == possible_isolation());
  CHECK_MESSAGE(environment.not_isolated.find("ran in the session's own process before") != std::string::npos,
                environment.not_isolated);
}

TEST_CASE("a crash of an isolated kernel is reported as that of any other") {
  for (const std::string function : {"null_pointer", "illegal", "say_and_crash", "overflow_stack", "crash_inside"}) {
    CAPTURE(function);
    Fixture fixture;
    const Status isolated = fixture.client.ask(fixture.evaluation(function, {})).status;
    CHECK(isolated.code() == ErrorCode::kernel_crashed);
    CHECK_MESSAGE(isolated.message().find("ended the session with SIG") != std::string::npos, isolated.message());
    CHECK_MESSAGE(isolated.message().find("in module ") != std::string::npos, isolated.message());
    check_next_session(fixture.server);
  }
}

TEST_CASE("an isolated kernel that never ends is stopped by the time limit of its call") {
  Fixture fixture({"--threads", "2", "--sessions", "1", "--call-deadline", "1"});
  const Status status = fixture.client.ask(fixture.evaluation("forever", {})).status;
  CHECK(status.code() == ErrorCode::deadline_exceeded);
  check_next_session(fixture.server);
}

}  // namespace
}  // namespace ferry::test
