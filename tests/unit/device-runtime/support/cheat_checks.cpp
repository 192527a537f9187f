#include "tests/unit/device-runtime/support/cheat_checks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/device-runtime/support/cheating_kernels.h"
#include "tests/unit/device-runtime/support/test_module.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

constexpr std::int64_t kElements = 10'000;

// Whether the processor time outside of windows was too long for times that mean something.
bool is_refused(const Status& status) { return status.message().find(" ms outside of them") != std::string::npos; }

// A session with the cheating kernels.
struct Session {
  std::unique_ptr<TestClient> owner;
  TestClient& client = *owner;
  rpc::Handle module = put(client, cheating_kernels());
  std::vector<float> input;
  rpc::Handle x, y;

  explicit Session(const OpenClient& open) : owner(open()) {
    for (std::int64_t i = 0; i < kElements; ++i) input.push_back(static_cast<float>(i % 1000) + 0.5F);
    x = client.upload(input);
    y = client.upload(std::vector<float>(kElements, -1));
  }

  rpc::Call call(const char* function) const {
    return {module, function, {tensor(x, {kElements}), tensor(y, {kElements})}};
  }
  Answer<Evaluation> measure(const std::vector<const char*>& functions, bool fresh_inputs = false,
                             std::uint32_t number = 1) {
    rpc::Evaluate request;
    for (const char* function : functions) request.calls.push_back(call(function));
    request.options = {.number = number, .repeat = 20, .min_repeat_ms = 0, .warmup_ms = 1};
    request.options.threads = 1;
    request.options.poison = {99, 1};
    request.options.isolated = true;
    request.options.fresh_inputs = fresh_inputs;
    // A busy host may count what it takes from an emulated board as the kernel's; a kernel that runs outside of its
    // windows does so each time.
    Answer<Evaluation> answer = client.ask(request);
    for (int i = 0; i < 5 && is_refused(answer.status); ++i) answer = client.ask(request);
    return answer;
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

bool isolates(const OpenClient& open) {
  Session session(open);
  const auto answer = session.measure({"square"});
  REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
  if (answer.reply.environment.isolation != TimingIsolation::none) return true;
  MESSAGE("skipped: " << answer.reply.environment.not_isolated);
  return false;
}

void check_stopped_cheats(const OpenClient& open, const std::function<void()>& after) {
  for (const bool fresh_inputs : {false, true}) {
    for (const Cheat& cheat : stopped_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      Session session(open);
      const Status status = session.measure({cheat.function}, fresh_inputs).status;
      CHECK_MESSAGE(status.code() == ErrorCode::kernel_crashed, status.message());
      CHECK_MESSAGE(status.message().find(std::string(cheat.function) + ": the kernel ended the session with SIG") == 0,
                    status.message());
      after();
    }
  }
}

void check_seen_cheats(const OpenClient& open) {
  for (const bool fresh_inputs : {false, true}) {
    for (const Cheat& cheat : seen_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      Session session(open);
      const auto answer = session.measure({"square", cheat.function}, fresh_inputs);
      REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
      CHECK(answer.reply.environment.fresh_inputs == fresh_inputs);
      CHECK(answer.reply.calls.at(0).unwritten + answer.reply.calls.at(0).changed == 0);
      CHECK(answer.reply.calls.at(1).unwritten + answer.reply.calls.at(1).changed > 0);
    }
  }
}

namespace {

// Half would be a cheat; the rest is the noise of a busy machine.
bool is_as_slow(const Evaluation& reply, double least = 0.5) {
  return median(reply.calls.at(1).seconds) > least * median(reply.calls.at(0).seconds);
}

// Measures again where the cheat seems to be faster: on a busy host, an emulated board counts what is taken from it as
// the time of either call. A cheat that gains time gains it in each measurement.
auto measured(const OpenClient& open, const Cheat& cheat, bool fresh_inputs, std::uint32_t number = 1,
              double least = 0.5) {
  constexpr int kAttempts = 4;
  for (int attempt = 1;; ++attempt) {
    Session session(open);
    auto answer = session.measure({"square", cheat.function}, fresh_inputs, number);
    if (attempt == kAttempts || !answer.status.is_ok()) return answer;
    const Samples& samples = answer.reply.calls.at(1);
    if (samples.unwritten + samples.changed != 0 || is_as_slow(answer.reply, least)) return answer;
  }
}

}  // namespace

void check_early_cheats(const OpenClient& open) {
  int listened_to = 0;
  for (const bool fresh_inputs : {false, true}) {
    for (const Cheat& cheat : early_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      const auto answer = measured(open, cheat, fresh_inputs);
      if (!answer.status.is_ok()) {
        CHECK_MESSAGE(answer.status.code() == ErrorCode::kernel_crashed, answer.status.message());
        listened_to += answer.status.message().find("the times say nothing") != std::string::npos ? 1 : 0;
        continue;
      }
      const Samples& samples = answer.reply.calls.at(1);
      if (samples.unwritten + samples.changed == 0) {
        CHECK(is_as_slow(answer.reply));
      } else {
        ++listened_to;
      }
    }
  }
  CHECK(listened_to >= 2);  // with and without fresh inputs
}

void check_lying_cheats(const OpenClient& open) {
  std::size_t stopped = 0;
  const bool are_held = possible_isolation() != TimingIsolation::pipe;
  for (const Cheat& cheat : lying_cheats()) {
    CAPTURE(std::string(cheat.description));
    Session session(open);
    const auto answer = session.measure({cheat.function});
    if (answer.status.message().find(": the kernel ended the session with SIG") != std::string::npos) {
      ++stopped;
    } else {
      CHECK_FALSE(are_held);
      CHECK_MESSAGE(answer.status.is_ok(), answer.status.message());
    }
  }
  CHECK(lying_cheats().size() - stopped == (are_held ? 0 : 1));
}

void check_copying_cheats(const OpenClient& open) {
  for (const Cheat& cheat : copying_cheats()) {
    CAPTURE(std::string(cheat.description));
    const auto answer = measured(open, cheat, true);
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    CHECK(answer.reply.calls.at(0).unwritten + answer.reply.calls.at(0).changed == 0);
    CHECK(answer.reply.calls.at(1).unwritten == 0);
    if (answer.reply.calls.at(1).changed == 0) CHECK(is_as_slow(answer.reply));
  }
}

void check_timed_cheats(const OpenClient& open) {
  // A share of the calls of each sample would suffice.
  constexpr std::uint32_t kCalls = 16;
  constexpr double kLeast = 0.8;
  std::size_t refused = 0;
  for (const Cheat& cheat : timed_cheats()) {
    CAPTURE(std::string(cheat.description));
    const auto answer = measured(open, cheat, true, kCalls, kLeast);
    if (is_refused(answer.status)) {
      ++refused;
      continue;
    }
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    CHECK(answer.reply.calls.at(1).unwritten + answer.reply.calls.at(1).changed == 0);
    CHECK(is_as_slow(answer.reply, kLeast));
  }
  // A measurement without a result helps no cheat; a busy host refuses some of an emulated board's again and again.
  CHECK(2 * refused <= timed_cheats().size());
}

}  // namespace ferry::test
