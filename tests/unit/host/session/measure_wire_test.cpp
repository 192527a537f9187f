// Tests the validation of a server's answer to a measurement, which precedes any use of it.
#include "host/session/measure_wire.h"

#include <doctest/doctest.h>

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
  CHECK(refusal(evaluation, 2) == ErrorCode::protocol_error);
  CHECK(refusal(evaluation, 1) == ErrorCode::ok);
  CHECK(session::timings_of(evaluation, 1)[0].median() == 0.5);
}
