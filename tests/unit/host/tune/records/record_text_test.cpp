#include "host/tune/records/record_text.h"

#include "tests/unit/host/tune/records/sample_record.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using test::sample_record;
using tune::Outcome;
using tune::TuneRecord;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a record is one line of JSON from which it is read again") {
  TuneRecord failed;
  failed.key.device.arch = "sm_90";
  failed.outcome = Outcome::wrong;
  failed.reason = "C: 3 of 64 elements are wrong\nthe first is 0, expected 1";
  for (const TuneRecord& record : {sample_record(), failed}) {
    const std::string line = tune::record_line(record).value();
    CHECK(line.find('\n') == line.size() - 1);
    const auto read = tune::parse_record(line);
    CHECK_MESSAGE(read.is_ok(), read.status().message());
    CHECK(read.value() == record);
  }
  const std::string line = tune::record_line(sample_record()).value();
  CHECK(line.starts_with("{\"schema\":\"ferry.tune/1\",\"program\":\"a1a1a1"));
  CHECK(line.find("\"seconds\":1.25e-06,\"interval_95_seconds\":[1.125e-06,") != std::string::npos);
}

TEST_CASE("a record that is longer than one write takes is not written") {
  TuneRecord record = sample_record();
  record.directives = std::string(3000, 'x');
  CHECK(tune::record_line(record).is_ok());
  record.directives = std::string(4000, 'x');
  CHECK(tune::record_line(record).status().code() == ErrorCode::invalid_argument);
  CHECK_FALSE(tune::parse_record(std::string(5000, ' ')).is_ok());
}

TEST_CASE("what is no record of this schema is refused, and unknown fields are ignored") {
  const std::string line = tune::record_line(sample_record()).value();
  CHECK(tune::parse_record(replaced(line, "{", "{\"later\":[1],")).is_ok());
  for (const std::string& wrong :
       {std::string(), std::string("[]"), std::string("{}"), line.substr(0, line.size() / 2),
        replaced(line, "ferry.tune/1", "ferry.tune/2"), replaced(line, "a1a1", "a1"),
        replaced(line, "measured", "fine"), replaced(line, "\"outcome\":\"measured\"", "\"outcome\":\"wrong\""),
        replaced(line, "1.25e-06", "-1.25e-06"), replaced(line, "1.25e-06", "\"fast\""),
        replaced(line, "\"threads\":8", "\"threads\":-8"), replaced(line, "\"threads\":8", "\"threads\":8589934592"),
        replaced(line, "\"arch\":\"x86_64\"", "\"arch\":7"), replaced(line, "\"seconds\"", "\"hours\"")})
    CHECK_MESSAGE(!tune::parse_record(wrong).is_ok(), wrong);
}

TEST_CASE("a record with an algorithm has a schema that earlier versions skip") {
  TuneRecord record = sample_record();
  record.algorithm = "winograd2";
  const std::string line = tune::record_line(record).value();
  CHECK(line.starts_with("{\"schema\":\"ferry.tune/2\","));
  const auto read = tune::parse_record(line);
  CHECK_MESSAGE(read.is_ok(), read.status().message());
  CHECK(read.value() == record);
  CHECK_FALSE(tune::parse_record(replaced(line, "ferry.tune/2", "ferry.tune/1")).is_ok());
  CHECK_FALSE(tune::parse_record(replaced(line, "\"algorithm\":\"winograd2\",", "")).is_ok());
}
