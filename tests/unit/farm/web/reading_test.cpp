#include "farm/web/pages/reading.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "farm/web/pages/url.h"
#include "host/text/html.h"
#include "tests/support/farm/scripted_farm.h"

using namespace ferry::farm::http;

TEST_CASE("no hostile name becomes markup, as text or in an attribute") {
  for (const std::string& name : ferry::test::hostile_names()) {
    CAPTURE(name);
    ferry::html::Html html;
    html.element("p", name, {{"title", name}, {"href", link("/board", {{"name", name}})}});
    const std::string text = html.take().substr(sizeof "<!doctype html>");
    CHECK(text.find('<', 1) == text.rfind("</p>"));
    CHECK(std::count(text.begin(), text.end(), '"') == 4);
    CHECK(text.find('\'') == std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("links carry any bytes there and back") {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string made = link("/board", {{"name", all}, {"empty", ""}, {"n", "1"}});
  const std::size_t question = made.find('?');
  const auto parsed = parse_parameters(made.substr(question + 1), 8);
  REQUIRE(parsed);
  CHECK(*parsed == Parameters{{"name", all}, {"n", "1"}});
}

TEST_CASE("queries that are not well-formed are refused") {
  CHECK_FALSE(parse_parameters("a=%", 8));
  CHECK_FALSE(parse_parameters("a=%4", 8));
  CHECK_FALSE(parse_parameters("a=%zz", 8));
  CHECK_FALSE(parse_parameters("a=%00", 8));
  CHECK_FALSE(parse_parameters("a=1&b=2&c=3", 2));
  CHECK(parse_parameters("&&a+b=c%2Bd&e", 8) == Parameters{{"a b", "c+d"}, {"e", ""}});
  CHECK(parameter(*parse_parameters("a=1&a=2", 8), "a") == "1");
}

TEST_CASE("decimal numbers fill 64 bits and nothing else counts as one") {
  CHECK(parse_decimal("18446744073709551615") == ~std::uint64_t{0});
  for (const char* text : {"18446744073709551616", "", "-1", "+1", " 1", "1 ", "0x1", "1e3"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_decimal(text));
  }
}

TEST_CASE("temperatures and measurements are written for people") {
  CHECK(temperature_text(-1'500) == "-1.5 °C");
  CHECK(temperature_text(std::nullopt) == "none");
  CHECK(picoseconds_text(0) == "failed");
}
