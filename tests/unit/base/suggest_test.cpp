#include "base/suggest.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("a name was probably meant if it differs by few letters, for its length") {
  const std::vector<std::string> known{"release-1.0", "main", "v1", "x"};
  CHECK(likely_meant("mian", known) == "main");
  CHECK(likely_meant("Main", known) == "main");
  CHECK(likely_meant("mainn", known) == "main");
  CHECK(likely_meant("relaese-1.0", known) == "release-1.0");
  CHECK(likely_meant("release-10", known) == "release-1.0");
  CHECK(likely_meant("v2", known) == "v1");
  CHECK(likely_meant("experiment", known) == "");
  CHECK(likely_meant("maximum", known) == "");
  CHECK(likely_meant("mxyz", known) == "");
  CHECK(likely_meant("y", known) == "");
  CHECK(likely_meant("", known) == "");
  CHECK(likely_meant("main", {}) == "");
  // Of names that agree in their first 64 letters, the first one is compared, as a whole.
  const std::string start(70, 'a');
  CHECK(likely_meant(start + "b", {start + "c"}) == start + "c");
  CHECK(likely_meant(start + "bcdef", {start}) == "");
}
