// What is known of a board's health as text, and texts that are damaged.
#include "farm/checkup/judge_state.h"

#include <doctest/doctest.h>

#include "farm/store/store.h"

namespace ferry::test {
namespace {

using namespace farm;

const HealthEnvironment kPi{"1f3a", "performance", "Linux 6.1, , ferry 0.1.0"};

HealthKnowledge example() {
  HealthKnowledge knowledge;
  knowledge.baselines = {{kPi, {1e-3, 2.5e-3, 1e-4 / 3}, {0, 1e-7, 5e-324}},
                         {{"", "it's \"quoted\" \\x1b", "\xc3\xbc"}, {1, 2, 3}, {4, 5, 6}}};
  knowledge.learned = {kPi, std::vector<HealthTimes>(2 * kHealthSessions, HealthTimes{0.1, 0.2, 0.3})};
  knowledge.unconfirmed = {kPi, HealthMetric::memory, true};
  return knowledge;
}

TEST_CASE("what is known is the same after it was written and read") {
  for (const HealthKnowledge& knowledge : {HealthKnowledge(), example()}) {
    const auto read = parse_knowledge(knowledge_text(knowledge));
    INFO(read.status().message());
    REQUIRE(read.is_ok());
    CHECK(read.value() == knowledge);
  }
}

TEST_CASE("the most that can be known of a board fits into the store") {
  HealthKnowledge knowledge;
  const std::string line(256, '\\'), firmware(800, '\\');
  const HealthTimes long_times{1.2345678901234567e-300, 1.2345678901234567e-300, 1.2345678901234567e-300};
  const HealthEnvironment longest{std::string(64, 'f'), line, firmware};
  knowledge.baselines.assign(kMaxBaselines, {longest, long_times, long_times});
  knowledge.learned = {longest, std::vector<HealthTimes>((kBaselineChecks - 1) * kHealthSessions, long_times)};
  knowledge.unconfirmed = {longest, HealthMetric::compute, false};
  const std::string text = knowledge_text(knowledge);
  CHECK(text.size() <= kMaxTextBytes);
  CHECK(parse_knowledge(text).value() == knowledge);
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = knowledge_text(example());
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from << " in " << text);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a damaged text is refused with what was expected") {
  const struct {
    std::string text, message;
  } cases[] = {
      {"", "parse error"},
      {"[]", "cannot use at()"},
      {"{}", "'version' not found"},
      {with("\"version\":1", "\"version\":2"), "expected version 1"},
      {with("\"job\":\"memory\"", "\"job\":\"memories\""), "expected the name of a job"},
      {with("\"median\":[0.001,", "\"median\":[-0.001,"), "expected positive times"},
      {with("\"median\":[0.001,", "\"median\":[1e999,"), "number overflow"},
      {with("\"median\":[0.001,", "\"median\":["), "expected a time of each job"},
      {with("\"median\":[0.001,", "\"median\":[null,"), "type must be number"},
      {with("\"sessions\":[", "\"sessions\":[[1,1,1],"), "expected the sessions of less than"},
      {with("\"governor\":\"performance\"", "\"governor\":\"" + std::string(1025, 'x') + "\""), "expected short texts"},
  };
  for (const auto& one : cases) {
    const auto read = parse_knowledge(one.text);
    CHECK(read.status().code() == ErrorCode::device_error);
    CHECK_MESSAGE(read.status().message().find(one.message) != std::string::npos, read.status().message());
  }
}

}  // namespace
}  // namespace ferry::test
