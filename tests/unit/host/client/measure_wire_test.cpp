// Tests the validation of a server's answer to a measurement, which precedes any use of it.
#include "host/client/measure_wire.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/throw_status.h"

using namespace ferry;

namespace {

ErrorCode refusal(const Evaluation& evaluation, std::size_t calls) {
  try {
    session::timings_of(evaluation, calls);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::ok;
}

}  // namespace

TEST_CASE("an evaluation has samples of each call, and all that belongs to each sample") {
  Evaluation evaluation;
  CHECK(refusal(evaluation, 1) == ErrorCode::protocol_error);
  evaluation.calls.resize(1);
  CHECK(refusal(evaluation, 1) == ErrorCode::protocol_error);
  evaluation.calls[0].seconds = {0.5};
  CHECK(refusal(evaluation, 1) == ErrorCode::protocol_error);
  evaluation.calls[0].switches = {0};
  CHECK(refusal(evaluation, 1) == ErrorCode::protocol_error);
  evaluation.calls[0].cores = {0};
  evaluation.calls[0].number = 1;
  CHECK(refusal(evaluation, 2) == ErrorCode::protocol_error);
  CHECK(refusal(evaluation, 1) == ErrorCode::ok);
  CHECK(session::timings_of(evaluation, 1)[0].median() == 0.5);
}

TEST_CASE("times and counts that there cannot be are refused, whatever a server claims") {
  Evaluation fine;
  fine.calls.resize(2);
  for (Samples& samples : fine.calls) {
    samples.seconds = {0.5, 0, 1e-9};
    samples.switches = samples.cores = {0, 0, 0};
    samples.number = 4;
    samples.cycles = std::nan("");
  }
  CHECK(refusal(fine, 2) == ErrorCode::ok);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {std::nan(""), kInfinity, -kInfinity, -1e-9, -1.0, 1e300}) {
    CAPTURE(wrong);
    Evaluation evaluation = fine;
    evaluation.calls[1].seconds[2] = wrong;
    CHECK(refusal(evaluation, 2) == ErrorCode::protocol_error);
    evaluation = fine;
    evaluation.environment.elapsed_s = wrong;
    CHECK(refusal(evaluation, 2) == ErrorCode::protocol_error);
    for (double Samples::* count : {&Samples::cycles, &Samples::instructions, &Samples::cache_misses}) {
      evaluation = fine;
      evaluation.calls[0].*count = wrong;
      CHECK((refusal(evaluation, 2) == ErrorCode::ok) == std::isnan(wrong));
    }
    StepTime step;
    step.seconds = {1, wrong};
    CHECK_THROWS_AS(session::steps_of({step}, 2), Error);
  }
  Evaluation none = fine;
  none.calls[0].number = 0;
  CHECK(refusal(none, 2) == ErrorCode::protocol_error);
  StepTime step;
  step.seconds = {1, 0};
  CHECK(session::steps_of({step}, 2).size() == 1);
  CHECK_THROWS_AS(session::steps_of({step}, 3), Error);
  try {
    step.seconds = {-1};
    session::steps_of({step}, 1);
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "time_steps: expected the time of a step from 0 to 1e+06 s, got -1");
  }
}
