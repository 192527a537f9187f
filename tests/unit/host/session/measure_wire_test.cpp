// Tests the validation of a server's answer to a measurement, which precedes any use of it.
#include "host/session/measure_wire.h"

#include <doctest/doctest.h>

#include "host/session/remote_error.h"

using namespace ferry;

namespace {

ErrorCode refusal(const rpc::Evaluation& evaluation, std::size_t calls) {
  try {
    session::timings_of(evaluation, calls);
  } catch (const RemoteError& error) {
    return error.code();
  }
  return ErrorCode::ok;
}

}  // namespace

TEST_CASE("an evaluation has a set of samples for each call, and samples in each set") {
  rpc::Evaluation evaluation;
  CHECK(refusal(evaluation, 1) == ErrorCode::protocol_error);
  evaluation.sets.resize(1);
  CHECK(refusal(evaluation, 1) == ErrorCode::protocol_error);
  evaluation.sets[0].samples = {{0.5, 0, 0}};
  CHECK(refusal(evaluation, 2) == ErrorCode::protocol_error);
  CHECK(refusal(evaluation, 1) == ErrorCode::ok);
  CHECK(session::timings_of(evaluation, 1)[0].median() == 0.5);
}
