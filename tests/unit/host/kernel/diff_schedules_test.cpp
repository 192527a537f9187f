// Tests of what two schedules of a kernel are compared by.
#include "host/kernel/diff_schedules.h"

#include <doctest/doctest.h>

#include "ferry/kernel/option_error.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

struct Files {
  test::Folder folder;
  std::string kernel = folder.file("twice.tc", "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\n");
  std::string schedule = folder.file("twice.schedule", "split i $width in {4,8}\n");

  ScheduleDiff diff(const std::string& first, const std::string& second,
                    const std::vector<std::string>& knobs = {}) const {
    DiffRequest request;
    request.kernel = kernel;
    request.schedules[0] = first;
    request.schedules[1] = second;
    request.target = "x86-64-v3";
    request.knobs = knobs;
    return diff_schedules(*test::own_compiler(), request);
  }
};

}  // namespace

TEST_CASE("schedules are compared by their loops, and kept as texts") {
  const Files files;
  CHECK(files.diff("none", "none").is_same());
  const ScheduleDiff diff = files.diff("none", files.schedule, {"width=4"});
  CHECK_FALSE(diff.is_same());
  CHECK(diff.loops[0].find("i.outer") == std::string::npos);
  CHECK(diff.loops[1].find("i.outer") != std::string::npos);
  CHECK(diff.schedules[1].find("split i") != std::string::npos);
  CHECK_FALSE(files.diff("none", "default").is_same());
}

TEST_CASE("a knob applies to the schedule that has it, and must be one of a schedule's") {
  const Files files;
  const ScheduleDiff four = files.diff("default", files.schedule, {"width=4"});
  const ScheduleDiff eight = files.diff("default", files.schedule, {"width=8"});
  CHECK(four.loops[0] == eight.loops[0]);
  CHECK(four.loops[1] != eight.loops[1]);
  CHECK_THROWS_WITH_AS(files.diff("none", "default", {"width=4"}), "width=4: neither schedule has a knob '$width'",
                       OptionError);
}

TEST_CASE("a kernel in another language has no schedules to compare") {
  const Files files;
  DiffRequest request;
  request.kernel = files.folder.path("mine.c");
  CHECK_THROWS_AS(diff_schedules(*test::own_compiler(), request), UsageError);
}
