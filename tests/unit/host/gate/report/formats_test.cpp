#include <doctest/doctest.h>

#include <algorithm>

#include "base/lines.h"
#include "host/gate/report/html_report.h"
#include "host/gate/report/markdown_report.h"
#include "host/gate/report/terminal_report.h"
#include "host/text/style.h"
#include "tests/support/gate/sample_reports.h"

using namespace ferry::gate;

TEST_CASE("links lead only to addresses that cannot end them") {
  CHECK(is_page_address("https://ci.example/a/b.html?run=7&x=%20"));
  CHECK(is_page_address("http://localhost:8080"));
  for (const char* address :
       {"", "ci.example", "javascript:alert(1)", "https://", "http://", "https://a b", "https://a)b", "https://a|b",
        "https://a\nb", "https://a#b", "https://a\"b", "https://a<b", "ftp://a"}) {
    CAPTURE(address);
    CHECK_FALSE(is_page_address(address));
    CHECK(markdown_report(ferry::test::varied_report(), {address}).find("](") == std::string::npos);
  }
}

TEST_CASE("a comment stays within the room that it is given and says what it leaves out") {
  const Report report = ferry::test::long_report(300);
  for (const std::size_t most : {0UL, 499UL, 1000UL, 5000UL, 20'000UL}) {
    const std::string text = markdown_report(report, {.most_bytes = most});
    CAPTURE(most);
    CHECK(text.size() <= std::max<std::size_t>(most, 1200));
    CHECK(text.find("There is no room for ") != std::string::npos);
    CHECK(text.starts_with("### :x: Failed: 3 slower, 297 no change\n"));
  }
}

TEST_CASE("a table in a narrow terminal stays within its width") {
  const Report report = ferry::test::varied_report();
  for (const std::size_t width : {60UL, 80UL, 120UL}) {
    const std::string text = terminal_report(report, width, stdout);
    for (const std::string_view line : ferry::lines_of(text.substr(0, text.find("\n\n")))) {
      CAPTURE(std::string(line));
      // Seven columns do not become narrower than eight characters each.
      CHECK(line.size() <= std::max<std::size_t>(width, 7 * 8 + 6 * 2));
    }
  }
}

TEST_CASE("colours change nothing but the verdicts and the headline") {
  const Report report = ferry::test::varied_report();
  const std::string plain = terminal_report(report, 100, stdout);
  ferry::text::use_color(ferry::text::UseColor::always);
  std::string coloured = terminal_report(report, 100, stdout);
  ferry::text::use_color(ferry::text::UseColor::automatic);
  CHECK(coloured.find("\033[31mslower\033[0m") != std::string::npos);
  CHECK(coloured.find("\033[33mcannot tell\033[0m") != std::string::npos);
  CHECK(coloured.find("\033[32mno change\033[0m") != std::string::npos);
  CHECK(std::count(coloured.begin(), coloured.end(), '\033') == 2 * (10 + 1));
  for (const char* code : {"\033[31m", "\033[32m", "\033[33m", "\033[0m"}) {
    for (std::size_t at = 0; (at = coloured.find(code)) != std::string::npos;)
      coloured.erase(at, std::string(code).size());
  }
  CHECK(coloured == plain);
}

TEST_CASE("the page of a thousand cases stays small enough to open") {
  const std::string page = html_report(ferry::test::long_report(1000));
  CHECK(page.size() < 12'000'000);
  CHECK(page.find("id=\"case-1000\"") != std::string::npos);
}
