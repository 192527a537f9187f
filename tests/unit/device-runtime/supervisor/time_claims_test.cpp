// Tests of sessions whose measured times contradict the server's clock.
#include "device-runtime/supervisor/time_claims.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace ferry::device {
namespace {

constexpr std::int64_t kMs = 1'000'000, kTick = 300 * kMs;

// A session that measures for five seconds, seen every 0.3 s.
struct Measurement {
  std::int64_t sample_ns = 10 * kMs;  // true length of a sample
  std::int64_t claimed_ns = 10 * kMs;
  std::int64_t rest_ns = 0;     // between samples, without using the processor
  std::int64_t between_ns = 0;  // between samples, busy
  double clock = 1;             // the session's speed relative to the true one
  double threads = 1;

  Status run() const {
    TimeClaims claims(static_cast<std::uint32_t>(threads) + 1);
    Status status;
    MeasuredTime measured{7, 0, 0, 0};
    std::int64_t at = 1000 * kMs, busy = 0;
    for (std::int64_t tick = at; tick < 6000 * kMs && status.is_ok(); tick += kTick) {
      const std::int64_t whole = sample_ns + rest_ns + between_ns;
      while (at + whole <= tick) {
        at += whole;
        busy += static_cast<std::int64_t>(static_cast<double>(sample_ns) * threads) + between_ns;
        ++measured.samples;
        measured.total_ns += claimed_ns;
        measured.ended_ns = static_cast<std::int64_t>(static_cast<double>(at) * clock);
      }
      SeenActivity seen;
      seen.measured = measured;
      const std::int64_t part = std::min(tick - at, sample_ns);
      status = claims.check(seen, tick, tick, busy + static_cast<std::int64_t>(static_cast<double>(part) * threads));
    }
    return status;
  }
};

TEST_CASE("measurements of every length agree with the clock") {
  for (const std::int64_t us : {1, 10, 100, 1000, 10'000, 100'000, 250'000, 1'000'000, 1'700'000}) {
    CAPTURE(us);
    const std::int64_t ns = us * 1000;
    CHECK(Measurement{.sample_ns = ns, .claimed_ns = ns, .between_ns = 20'000}.run().is_ok());
    CHECK(Measurement{.sample_ns = ns, .claimed_ns = ns, .between_ns = 20'000, .threads = 4}.run().is_ok());
    CHECK(Measurement{.sample_ns = ns, .claimed_ns = ns, .between_ns = 500'000}.run().is_ok());
    CHECK(Measurement{.sample_ns = ns, .claimed_ns = ns, .between_ns = 7'000'000, .threads = 64}.run().is_ok());
    // The processor belongs to others for most of the time, within samples and between them.
    CHECK(Measurement{.sample_ns = ns, .claimed_ns = ns, .rest_ns = 5 * ns, .threads = 0.2}.run().is_ok());
    // The session rests before each sample.
    CHECK(Measurement{.sample_ns = ns, .claimed_ns = ns, .rest_ns = 50 * kMs}.run().is_ok());
  }
}

TEST_CASE("a clock that runs slower, or only while something is measured, contradicts") {
  for (const double factor : {2.0, 16.0, 1000.0}) {
    CAPTURE(factor);
    const auto claimed = static_cast<std::int64_t>(static_cast<double>(10 * kMs) / factor);
    for (const double threads : {1.0, 4.0}) {
      CHECK(Measurement{.claimed_ns = claimed, .threads = threads}.run().code() == ErrorCode::kernel_crashed);
      CHECK(Measurement{.claimed_ns = claimed, .clock = 1 / factor, .threads = threads}.run().code() ==
            ErrorCode::kernel_crashed);
    }
  }
}

TEST_CASE("more time than there was contradicts, and so do numbers that no clock shows") {
  CHECK(Measurement{.claimed_ns = 20 * kMs}.run().code() == ErrorCode::kernel_crashed);
  CHECK(Measurement{.claimed_ns = -10 * kMs}.run().code() == ErrorCode::kernel_crashed);
  const Status status = Measurement{.claimed_ns = kMs / 10}.run();
  CHECK_MESSAGE(
      status.message().rfind("a kernel has changed the clock of its session, or what that says of it: ", 0) == 0,
      status.message());
}

TEST_CASE("an evaluation is compared with its own beginning, not with what came before") {
  TimeClaims claims(1);
  std::int64_t now = 0;
  const auto see = [&](std::uint64_t evaluation, std::uint64_t samples, std::int64_t total_ns) {
    now += kTick;
    SeenActivity seen;
    seen.measured = MeasuredTime{evaluation, samples, total_ns, now};
    return claims.check(seen, now, now, now);
  };
  CHECK(see(1, 10, 100 * kMs).is_ok());
  // Something else takes all of the processor's time between two evaluations.
  now += 5000 * kMs;
  CHECK(see(2, 20, 200 * kMs).is_ok());
  CHECK(see(2, 30, 500 * kMs).is_ok());
  CHECK(see(2, 30, 500 * kMs).is_ok());
  CHECK(see(2, 40, 501 * kMs).code() == ErrorCode::kernel_crashed);
}

}  // namespace
}  // namespace ferry::device
