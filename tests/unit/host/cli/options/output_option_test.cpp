#include "host/cli/options/output_option.h"

#include <doctest/doctest.h>

#include "ferry/error.h"

using namespace ferry;

TEST_CASE("outputs name files with or without an at sign") {
  CHECK(cli::parse_outputs({"C=@c.npy", "D=d.npy"}) ==
        std::map<std::string, std::string>{{"C", "c.npy"}, {"D", "d.npy"}});
  CHECK(cli::parse_outputs({"a=b=@c=d.npy"}) == std::map<std::string, std::string>{{"a=b", "c=d.npy"}});
  CHECK_THROWS_WITH_AS(cli::parse_outputs({"C=@c.npy", "C=@d.npy"}),
                       "--out C=@d.npy: expected one file for C, got a second one", UsageError);
  CHECK_THROWS_WITH_AS(cli::parse_outputs({"C"}), "--out C: expected NAME=@FILE.npy", UsageError);
}
