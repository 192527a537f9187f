#include "host/text/unified_diff.h"

#include <doctest/doctest.h>

using ferry::text::unified_diff;

namespace {

std::string numbers(int count, const std::string& replaced = "", int at = 0) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += (i == at ? replaced : std::to_string(i)) + "\n";
  return text;
}

}  // namespace

TEST_CASE("equal texts have no difference") { CHECK(unified_diff("a\nb\n", "a\nb\n", "x", "y").empty()); }

TEST_CASE("a change is shown among the lines around it") {
  CHECK(unified_diff(numbers(9), numbers(9, "five", 5), "x", "y") ==
        "--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST_CASE("lines that come or go are counted, also at the ends") {
  CHECK(unified_diff("", "a\n", "x", "y") == "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
  CHECK(unified_diff("a\nb\n", "b\n", "x", "y") == "--- x\n+++ y\n@@ -1,2 +1 @@\n-a\n b\n");
  CHECK(unified_diff("a\n", "a\nb\n", "x", "y") == "--- x\n+++ y\n@@ -1 +1,2 @@\n a\n+b\n");
}

TEST_CASE("changes far apart are hunks of their own") {
  const std::string text = unified_diff(numbers(30), "0\n" + numbers(30, "last", 30), "x", "y");
  CHECK(text == "--- x\n+++ y\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -27,4 +28,4 @@\n 27\n 28\n 29\n-30\n+last\n");
}

TEST_CASE("lines are coloured only where that is asked for") {
  CHECK(unified_diff("a\n", "b\n", "x", "y", 3, true).find("\033[32m+b\033[0m\n") != std::string::npos);
  CHECK(unified_diff("a\n", "b\n", "x", "y").find('\033') == std::string::npos);
}
