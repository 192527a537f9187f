#include "tests/unit/device-runtime/support/cheat_checks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/device-runtime/support/cheat_session.h"
#include "tests/unit/device-runtime/support/test_server.h"

namespace ferry::test {
namespace {

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

bool isolates(const OpenClient& open) {
  CheatSession session(open);
  const auto answer = session.measure({"square"});
  REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
  if (answer.reply.environment.isolation != TimingIsolation::none) return true;
  MESSAGE("skipped: " << answer.reply.environment.not_isolated);
  return false;
}

void check_stopped_cheats(const OpenClient& open, Extent extent, const std::function<void()>& after) {
  for (const bool fresh_inputs : ways_of_inputs(extent)) {
    for (const Cheat& cheat : stopped_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      CheatSession session(open);
      const Status status = session.measure({cheat.function}, fresh_inputs).status;
      CHECK_MESSAGE(status.code() == ErrorCode::kernel_crashed, status.message());
      CHECK_MESSAGE(status.message().find(std::string(cheat.function) + ": the kernel ended the session with SIG") == 0,
                    status.message());
      if (extent == Extent::whole) after();
    }
  }
  after();
}

void check_seen_cheats(const OpenClient& open) {
  for (const bool fresh_inputs : {false, true}) {
    for (const Cheat& cheat : seen_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      CheatSession session(open);
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
    CheatSession session(open);
    auto answer = session.measure({"square", cheat.function}, fresh_inputs, number);
    if (attempt == kAttempts || !answer.status.is_ok()) return answer;
    const Samples& samples = answer.reply.calls.at(1);
    if (samples.unwritten + samples.changed != 0 || is_as_slow(answer.reply, least)) return answer;
  }
}

}  // namespace

void check_early_cheats(const OpenClient& open, Extent extent) {
  int listened_to = 0;
  for (const bool fresh_inputs : ways_of_inputs(extent)) {
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
  CHECK(listened_to >= static_cast<int>(ways_of_inputs(extent).size()));
}

void check_lying_cheats(const OpenClient& open) {
  std::size_t stopped = 0;
  const bool are_held = possible_isolation() != TimingIsolation::pipe;
  for (const Cheat& cheat : lying_cheats()) {
    CAPTURE(std::string(cheat.description));
    CheatSession session(open);
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

void check_timed_cheats(const OpenClient& open, Extent extent) {
  // For those that only compute, a share of the calls of each sample would suffice.
  const std::uint32_t calls = extent == Extent::whole ? 16 : 2;
  const double least = extent == Extent::whole ? 0.8 : 0.5;
  std::size_t measurements = 0, refused = 0;
  for (const Cheat& cheat : timed_cheats()) {
    if (cheat.is_portable && extent == Extent::brief) continue;
    ++measurements;
    CAPTURE(std::string(cheat.description));
    const auto answer = measured(open, cheat, true, calls, least);
    if (is_refused(answer.status)) {
      ++refused;
      continue;
    }
    REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
    CHECK(answer.reply.calls.at(1).unwritten + answer.reply.calls.at(1).changed == 0);
    CHECK(is_as_slow(answer.reply, least));
  }
  // A measurement without a result helps no cheat; a busy host refuses some of an emulated board's again and again.
  CHECK(2 * refused <= measurements);
}

void check_breaking_cheats(const OpenClient& open, Extent extent) {
  for (const bool fresh_inputs : ways_of_inputs(extent)) {
    for (const Cheat& cheat : breaking_cheats()) {
      CAPTURE(fresh_inputs);
      CAPTURE(std::string(cheat.description));
      const auto answer = measured(open, cheat, fresh_inputs);
      if (!answer.status.is_ok()) {
        CHECK_MESSAGE(answer.status.code() == ErrorCode::kernel_crashed, answer.status.message());
        continue;
      }
      const Samples& samples = answer.reply.calls.at(1);
      if (samples.unwritten + samples.changed == 0) CHECK(is_as_slow(answer.reply));
    }
  }
}

void check_float_mode(const OpenClient& open) {
  constexpr float kUsual = 3;
  for (const bool isolated : {true, false}) {
    for (const bool fresh_inputs : {false, true}) {
      CAPTURE(isolated);
      CAPTURE(fresh_inputs);
      CheatSession session(open);
      rpc::Evaluate request = session.request({"tell_and_leave_float_mode", "leave_float_mode"}, fresh_inputs);
      request.options.isolated = isolated;
      const auto answer = session.measure(request);
      REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
      CHECK(answer.reply.calls.at(0).changed == 0);
      // The session's own process, after what may have run in it.
      session.client.must(session.call("tell_float_mode"));
      const auto told = session.client.download<float>(session.y, kElements);
      CHECK(std::ranges::count(told, kUsual) == kElements);
      request = session.request({"tell_and_leave_float_mode"}, fresh_inputs);
      request.options.isolated = isolated;
      REQUIRE(session.measure(request).status.is_ok());
      const auto last = session.client.download<float>(session.y, kElements);
      CHECK(std::ranges::count(last, kUsual) == kElements);
    }
  }
}

namespace {

// A kernel looks for these in its memory: pieces of 16 bytes, whose bits it gets inverted.
struct Wanted {
  std::vector<const char*> names;
  std::vector<std::uint32_t> inverted;

  void add(const char* name, const void* bytes) {
    std::uint32_t words[4];
    std::memcpy(words, bytes, sizeof words);
    names.push_back(name);
    for (const std::uint32_t word : words) inverted.push_back(~word);
  }
};

constexpr const char* kOwnName = "the name of a function of its module";

// Returns what a measured kernel finds. The session holds a seed, and tensors that are not the kernel's.
std::vector<std::string> found_in_memory(const OpenClient& open, bool isolated) {
  CheatSession session(open);
  session.client.must(session.call("square"));
  const auto results = session.client.download<float>(session.y, kElements);
  const std::uint64_t seed[2] = {0x9e21'77c5'3ab0'14d6, 0x40f8'6b1d'c2e9'5573};
  const std::uint64_t outputs_seed[2] = {seed[0] ^ 1, seed[1]};
  Wanted wanted;
  wanted.add(kOwnName, "tell_and_leave_float_mode");
  wanted.add("the seed", seed);
  wanted.add("the seed of outputs", outputs_seed);
  wanted.add("another tensor", &session.input[123]);
  wanted.add("a result", &results[123]);
  const auto count = static_cast<std::int64_t>(wanted.inverted.size());
  const rpc::Handle pieces = session.client.upload(wanted.inverted);
  const rpc::Handle counts = session.client.upload(std::vector<float>(wanted.inverted.size(), -1));
  rpc::Evaluate request = session.request({"square"});
  request.calls.push_back({session.module, "search_memory", {tensor(pieces, {count}), tensor(counts, {count})}});
  request.options.repeat = 1;
  request.options.warmup_ms = 0;
  request.options.poison = {seed[0], seed[1]};
  request.options.isolated = isolated;
  const auto answer = session.measure(request);
  REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
  const auto found = session.client.download<float>(counts, wanted.inverted.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < wanted.names.size(); ++i)
    if (found[i] > 0) names.push_back(wanted.names[i]);
  return names;
}

}  // namespace

void check_searched_memory(const OpenClient& open) {
  CHECK(found_in_memory(open, true) == std::vector<std::string>{kOwnName});
  const std::vector<std::string> all = found_in_memory(open, false);
  for (const char* const name : {kOwnName, "the seed", "another tensor", "a result"}) {
    CAPTURE(std::string(name));
    CHECK(std::ranges::count(all, name) == 1);
  }
}

void check_cheats_in_process(const OpenClient& open) {
  const std::vector<std::string> kNotSeen{"copy_first",      "copy_often", "copy_later", "copy_if_alike",
                                          "copy_by_address", "half",       "only_poison"};
  for (const auto* const cheats : {&seen_cheats(), &copying_cheats()}) {
    for (const Cheat& cheat : *cheats) {
      CAPTURE(std::string(cheat.description));
      CheatSession session(open);
      rpc::Evaluate request = session.request({"square", cheat.function}, true);
      request.options.isolated = false;
      const auto answer = session.measure(request);
      REQUIRE_MESSAGE(answer.status.is_ok(), answer.status.message());
      CHECK(answer.reply.environment.isolation == TimingIsolation::none);
      CHECK_FALSE(answer.reply.environment.fresh_inputs);
      CHECK(answer.reply.calls.at(0).unwritten + answer.reply.calls.at(0).changed == 0);
      const Samples& samples = answer.reply.calls.at(1);
      const bool is_seen = samples.unwritten + samples.changed > 0;
      CHECK(is_seen == (std::ranges::count(kNotSeen, cheat.function) == 0));
    }
  }
}

}  // namespace ferry::test
