#include "host/text/junit.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("a report counts its failures and errors, and escapes what XML gives a meaning") {
  const text::JUnitReport report{"ferry run a&b.tc",
                                 {{.name = "C", .seconds = 0.5},
                                  {.name = "D", .failure = "D[0] is <nan>,\nexpected \"1\"\x1b"},
                                  {.name = "E", .error = "no device", .output = "x > y"}}};
  CHECK(text::junit_text(report) ==
        R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" errors="1" time="0.500000000">
  <testsuite name="ferry run a&amp;b.tc" tests="3" failures="1" errors="1" time="0.500000000">
    <testcase classname="ferry run a&amp;b.tc" name="C" time="0.500000000"/>
    <testcase classname="ferry run a&amp;b.tc" name="D" time="0.000000000">
      <failure message="D[0] is &lt;nan&gt;,&#10;expected &quot;1&quot;\x1b"/>
    </testcase>
    <testcase classname="ferry run a&amp;b.tc" name="E" time="0.000000000">
      <error message="no device"/>
      <system-out>x &gt; y</system-out>
    </testcase>
  </testsuite>
</testsuites>
)");
}
