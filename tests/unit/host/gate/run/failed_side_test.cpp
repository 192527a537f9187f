// Tests of who is said to have failed in a process that ran both sides, and of what counts as a failure of a kernel.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "host/gate/run/find_failed_side.h"
#include "host/gate/run/measure_pair.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/memory_layout.h"
#include "tests/unit/host/gate/run/sides.h"

using namespace ferry;
using namespace ferry::gate;
using test::side_of;

namespace {

const std::string kCrash = "*(volatile int*)8 = 1;";
const std::string kFine = "for (int i = 0; i < 64; ++i) y[i] = x[i] * 0.5f;";
// Only a process that runs both sides has such a state: a segment register that nothing else uses.
const std::string kMark = kFine + "__asm__ volatile(\"wrgsbase %0\" : : \"r\"(0x8000L));";
std::string if_marked(const std::string& then) {
  return "long mark; __asm__ volatile(\"rdgsbase %0\" : \"=r\"(mark)); if (mark == 0x8000) {" + then + "}" + kFine;
}

struct Failure {
  std::optional<Side> side;
  std::string message;
};

// Whether each side runs in a process of its own, or both in the session's.
enum class Processes { own, shared };

Failure failure_of(const std::string& baseline, const std::string& current, const Deadlines& deadlines = {},
                   std::uint32_t samples = 6, Processes processes = Processes::own) {
  const PerSide<bench::MeasuredSide> sides{side_of(baseline), side_of(current)};
  stats::Random random(7);
  bench::RunSettings measured = test::measured_case();
  measured.sampling.bench.repeat = samples;
  measured.sampling.isolated = processes == Processes::own;
  const auto open = [&](ConnectOptions options) {
    options.deadlines = deadlines;
    return local_device(options);
  };
  try {
    measure_pair(open, measured, sides, 5, true, random, {});
  } catch (const SideFailed& failed) {
    return {failed.side(), failed.what()};
  }
  FAIL("no side failed");
  return {};
}

Failure failure_in_shared_process(const std::string& baseline, const std::string& current) {
  return failure_of(baseline, current, {}, 6, Processes::shared);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

OpenSession opening_with(const Deadlines& deadlines) {
  return [deadlines](ConnectOptions options) {
    options.deadlines = deadlines;
    return local_device(options);
  };
}

struct Caught {
  ErrorCode code = ErrorCode::ok;
  std::string message;
  bool is_failure = false, may_hang = false;
};

Caught caught(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.code(), error.what(), is_failure_of_kernel(error), may_be_hang(error)};
  }
  FAIL("expected an Error");
  return {};
}

}  // namespace

TEST_CASE("a side that crashes alone has failed, whichever it is") {
  const Failure current = failure_of(kFine, kCrash);
  CHECK(current.side == Side::current);
  CHECK(contains(current.message, "SIGSEGV"));
  const Failure baseline = failure_of(kCrash, kFine);
  CHECK(baseline.side == Side::baseline);
  CHECK_FALSE(contains(baseline.message, "sometimes"));
  CHECK(failure_of(kCrash, kCrash).side == Side::current);
}

TEST_CASE("a side that crashes only beside the other one is known by where it crashed, and said to fail sometimes") {
  const Failure current = failure_in_shared_process(kMark, if_marked(kCrash));
  CAPTURE(current.message);
  CHECK(current.side == Side::current);
  CHECK(contains(current.message, "it fails only sometimes: alone, it ran 3 times without a failure"));
  const Failure baseline = failure_in_shared_process(if_marked(kCrash), kMark);
  CAPTURE(baseline.message);
  CHECK(baseline.side == Side::baseline);
  CHECK(contains(baseline.message, "it fails only sometimes"));
}

TEST_CASE("of a side that crashes outside of its code, and only beside the other one, nobody can tell which it is") {
  for (const bool is_current : {false, true}) {
    CAPTURE(is_current);
    const std::string fails = if_marked("((void (*)(void))8)();");
    const Failure failure =
        is_current ? failure_in_shared_process(kMark, fails) : failure_in_shared_process(fails, kMark);
    CAPTURE(failure.message);
    CHECK(failure.side == std::nullopt);
    CHECK(contains(failure.message, "one of both sides fails only sometimes"));
  }
}

TEST_CASE("an isolated side does not see what the other one has done to its process") {
  for (const bool marks_first : {false, true}) {
    const PerSide<bench::MeasuredSide> sides{side_of(kMark), side_of(if_marked(kCrash))};
    stats::Random random(7);
    const MeasuredPair pair = measure_pair(opening_with({}), test::measured_case(), sides, 5, !marks_first, random, {});
    CHECK(pair.pair.seconds[Side::current] > 0);
  }
}

TEST_CASE("what one side writes into its tensors, inputs too, the other one does not see") {
  const std::string writes = kFine + "y[3] = 77; ((float*)x)[5] = 77;";
  const std::string looks = "if (y[3] == 77 || x[5] == 77) {" + kCrash + "}" + kFine;
  for (const bool writes_first : {false, true}) {
    const PerSide<bench::MeasuredSide> sides{side_of(writes), side_of(looks)};
    stats::Random random(7);
    bench::RunSettings measured = test::measured_case();
    measured.checks_results = false;
    measured.sampling.isolated = false;  // the inputs of isolated calls are read-only
    const MeasuredPair pair = measure_pair(opening_with({}), measured, sides, 5, !writes_first, random, {});
    CHECK(pair.pair.seconds[Side::current] > 0);
  }
}

TEST_CASE("a side that does in timed calls what it does not in one has failed, whichever it is") {
  const std::string writes_input = kFine + "((float*)x)[5] = 77;";
  const struct {
    std::string body, message;
    Processes processes = Processes::own;
  } cheats[] = {
      {"static int calls; if (calls++) return;" + kFine, "did not write all of the outputs"},
      {"static int calls; if (calls++) { y[0] = 1; return; }" + kFine, "did not write all of the outputs"},
      {writes_input, "SIGSEGV"},
      {writes_input, "x, which it only reads, has other contents after the timed calls", Processes::shared},
      {"static float kept[64]; for (int i = 0; i < 64; ++i) { y[i] = x[i] + kept[i]; kept[i] = x[i]; }",
       "computed something else than a second process"},
  };
  for (const auto& [body, message, processes] : cheats) {
    CAPTURE(body);
    const auto failure = [&](const std::string& first, const std::string& second) {
      return failure_of(first, second, {}, 6, processes);
    };
    const Failure current = failure(kFine, body);
    CHECK(current.side == Side::current);
    CHECK_MESSAGE(contains(current.message, message), current.message);
    const Failure baseline = failure(body, kFine);
    CHECK(baseline.side == Side::baseline);
    CHECK_MESSAGE(contains(baseline.message, message), baseline.message);
    CHECK(failure(body, body).side == Side::current);
  }
}

TEST_CASE("results of timed calls are compared with those that were checked, and with the other side's") {
  PerSide<bench::MeasuredSide> sides{side_of(kFine), side_of("for (int i = 0; i < 64; ++i) y[i] = x[i];")};
  stats::Random random(7);
  bench::RunSettings measured = test::measured_case();
  const auto message = [&] {
    try {
      measure_pair(opening_with({}), measured, sides, 5, true, random, {});
    } catch (const SideFailed& failed) {
      CHECK(failed.side() == Side::current);
      return std::string(failed.what());
    }
    return std::string();
  };
  CHECK(message() == "");
  measured.pairs = {{0, 0}, {1, 1}};
  CHECK(contains(message(), "the results differ: y["));
  measured.pairs = {};
  std::vector<std::uint8_t> zeros(64 * sizeof(float));
  sides[Side::current].results = std::make_shared<const verify::Outputs>(verify::Outputs{{}, zeros});
  CHECK(contains(message(), "and 0 in the call that was checked"));
}

TEST_CASE("a call that takes too long is found alone") {
  const Deadlines deadlines{.call = 1};
  const Failure current = failure_of(kFine, test::kHangs, deadlines);
  CHECK(current.side == Side::current);
  CHECK(contains(current.message, "the limit of a call is 1.0 s"));
  CHECK(failure_of(test::kHangs, kFine, deadlines).side == Side::baseline);
}

TEST_CASE("a measurement longer than the limit of a call is nobody's failure") {
  const std::string slow =
      "for (volatile long i = 0; i < 2000000; ++i) y[0] = 1;";  // some ms, of which there are a thousand
  const Failure failure = failure_of(slow, slow, {.call = 0.5}, 500);
  CAPTURE(failure.message);
  CHECK(failure.side == std::nullopt);
  CHECK(contains(failure.message, "--call-deadline"));
}

TEST_CASE("only a call beyond its limit is the kernel's failure, not a session beyond its own") {
  const PerSide<bench::MeasuredSide> sides{side_of(test::kHangs), side_of(kFine)};
  const bench::PlacedSide only[] = {{sides[Side::baseline]}};
  const bench::MemoryLayout memory{0, {0}};
  const auto fail = [&](const Deadlines& deadlines) {
    return caught([&] { measure_process(opening_with(deadlines), test::measured_case(), only, memory, {}); });
  };
  const Caught call = fail({.call = 0.2}), session = fail({.session = 0.2});
  CAPTURE(call.message);
  CAPTURE(session.message);
  CHECK(call.code == ErrorCode::deadline_exceeded);
  CHECK(call.is_failure);
  CHECK(session.code == ErrorCode::deadline_exceeded);
  CHECK_FALSE(session.is_failure);
  CHECK_FALSE(call.may_hang);
  CHECK_FALSE(is_failure_of_kernel(Error(ErrorCode::deadline_exceeded, "rpi4: no answer within 5000 ms")));
  CHECK_FALSE(is_failure_of_kernel(Error(ErrorCode::unavailable, "rpi4: the limit of a call is 1 s")));
  CHECK(is_failure_of_kernel(KernelFailed("f: returned 9")));
}

TEST_CASE("a side that hangs up to the limit of a session has failed, unless the other one does so too") {
  const OpenSession open = opening_with({.session = 2});
  const auto hanging = [&](const std::string& baseline, const std::string& current) {
    const PerSide<bench::MeasuredSide> sides{side_of(baseline), side_of(current)};
    return find_hanging_side(open, test::measured_case(), sides, {});
  };
  const auto current = hanging(kFine, test::kHangs);
  REQUIRE(current);
  CHECK(current->side() == Side::current);
  CAPTURE(current->what());
  CHECK(contains(current->what(), "the limit of a session is 2.0 s"));
  CHECK(contains(current->what(), "; a call of the baseline ends well within it"));
  const auto baseline = hanging(test::kHangs, kFine);
  REQUIRE(baseline);
  CHECK(baseline->side() == Side::baseline);
  CHECK_FALSE(hanging(kFine, kFine));
  CHECK_FALSE(hanging(test::kHangs, test::kHangs));
}

TEST_CASE("a session that is too long because of what came before its kernel is no hang") {
  const PerSide<bench::MeasuredSide> sides{side_of(test::kHangs), side_of(kFine)};
  const bench::PlacedSide only[] = {{sides[Side::baseline]}};
  const bench::MemoryLayout memory{0, {0}};
  const auto end_after = [&](std::chrono::milliseconds before) {
    return caught([&] {
      measure_process(
          [&](const ConnectOptions& options) {
            Device device = opening_with({.session = 2})(options);
            std::this_thread::sleep_for(before);
            return device;
          },
          test::measured_case(), only, memory, {});
    });
  };
  CHECK(end_after(std::chrono::milliseconds(0)).may_hang);
  const Caught late = end_after(std::chrono::milliseconds(1400));
  CAPTURE(late.message);
  CHECK(late.code == ErrorCode::deadline_exceeded);
  CHECK_FALSE(late.may_hang);
}
