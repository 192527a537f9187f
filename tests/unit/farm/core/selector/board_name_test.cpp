#include "farm/core/selector/board_name.h"

#include <doctest/doctest.h>

#include <string>

namespace ferry::test {
namespace {

TEST_CASE("a board's name has letters, digits, dashes, underscores and dots") {
  for (const std::string& name : {std::string("pi-3"), std::string("a"), std::string("9_b.c"), std::string(64, 'X')})
    CHECK(farm::check_board_name(name).is_ok());
  for (const std::string& name : {std::string(), std::string("-pi"), std::string(".pi"), std::string("_pi"),
                                  std::string("pi 3"), std::string("pi/3"), std::string("pi\n"), std::string("p\0i", 3),
                                  std::string("gr\xc3\xbcn"), std::string(65, 'x')})
    CHECK(farm::check_board_name(name).code() == ErrorCode::invalid_argument);
  CHECK(farm::check_board_name("a\x1b[2J").message().ends_with("'a\\x1b[2J'"));
}

TEST_CASE("a board is not called as a kind of device is, which no selector could tell from it") {
  for (const char* name : {"cuda", "opencl"}) {
    CHECK(farm::check_board_name(name).code() == ErrorCode::invalid_argument);
  }
  CHECK(farm::check_board_name("cuda-1").is_ok());
}

}  // namespace
}  // namespace ferry::test
