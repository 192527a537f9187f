// Tests of what a server is asked for its description.
#include "host/kernel/device_survey.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "ferry/error.h"

using namespace ferry;

namespace {

using Devices = std::vector<std::string>;

}  // namespace

TEST_CASE("a survey has the facts of a machine, and those of each GPU that it could open") {
  std::vector<Devices> opened;
  const DeviceSurvey survey = survey_device([&](const ConnectOptions& options) {
    opened.push_back(options.devices);
    return local_device(options);
  });
  CHECK(survey.name == "this machine");
  CHECK(survey.facts.logical_cores > 0);
  REQUIRE(survey.gpus.size() == survey.facts.devices.size());
  CHECK(opened.size() == 1 + static_cast<std::size_t>(std::ranges::count_if(
                                 survey.facts.devices, [](const ComputeDevice& one) { return one.kind != "cpu"; })));
  for (std::size_t i = 0; i < survey.gpus.size(); ++i) {
    CAPTURE(survey.facts.devices[i].kind);
    if (survey.facts.devices[i].kind == "cpu") CHECK_FALSE(survey.gpus[i]);
    if (survey.gpus[i]) CHECK(survey.gpus[i]->name == survey.facts.devices[i].name);
  }
}

TEST_CASE("a GPU that does not open is told and leaves the others, and each is opened by its number") {
  std::vector<Devices> opened;
  std::vector<std::string> told;
  Observer observer;
  observer.message = [&](const std::string& line) { told.push_back(line); };
  const DeviceSurvey survey = survey_device(
      [&](const ConnectOptions& options) {
        opened.push_back(options.devices);
        if (opened.size() > 1) throw Error(ErrorCode::device_error, "it is\nbroken");
        return local_device(options);
      },
      observer);
  CHECK(std::ranges::none_of(survey.gpus, [](const auto& gpu) { return gpu.has_value(); }));
  REQUIRE(told.size() + 1 == opened.size());
  for (const std::string& line : told) CHECK(line.find(": it is") != std::string::npos);
  for (std::size_t i = 1; i < opened.size(); ++i) CHECK(opened[i].at(0).find("cpu") == std::string::npos);
}

TEST_CASE("an older server, which takes the request for all devices as a name, is asked for none") {
  std::vector<Devices> opened;
  const DeviceSurvey survey = survey_device([&](const ConnectOptions& options) {
    opened.push_back(options.devices);
    if (opened.size() == 1) throw Error(ErrorCode::unsupported, "there is no device 'any'");
    return local_device({});
  });
  REQUIRE(opened.size() >= 2);
  CHECK(opened[0].size() == 1);
  CHECK(opened[1].empty());
  CHECK(survey.facts.logical_cores > 0);
  CHECK_THROWS_WITH_AS(
      survey_device([](const ConnectOptions&) -> Device { throw Error(ErrorCode::unavailable, "nobody"); }), "nobody",
      Error);
}
