#include "host/text/columns.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("columns are as wide as their widest entries") {
  CHECK(text::columns_text({{"device", "median"}, {"pi", "1.2 us"}}) == "device  median\npi      1.2 us\n");
  CHECK(text::columns_text({{"a", ""}, {"b", "c"}}, 0, "  ") == "  a\n  b  c\n");
}

TEST_CASE("a table that is too wide goes on in further lines of its widest columns") {
  CHECK(text::columns_text({{"device", "warnings"}, {"pi", "the governor may change the frequency at any time"}}, 30) ==
        "device  warnings\n"
        "pi      the governor may\n"
        "        change the frequency\n"
        "        at any time\n");
  CHECK(text::columns_text({{"a", "b"}, {"0123456789abcdef", "x"}}, 12) == "a          b\n012345678  x\n9abcdef\n");
  // Below a least width it stays as it is.
  CHECK(text::columns_text({{"abcdefgh", "abcdefgh"}}, 4) == "abcdefgh  abcdefgh\n");
}

TEST_CASE("comma-separated values have quotes where they are needed") {
  CHECK(text::csv_text({{"device", "sizes"}, {"pi", "M=1, N=2"}, {"a \"b\"", "two\nlines"}}) ==
        "device,sizes\npi,\"M=1, N=2\"\n\"a \"\"b\"\"\",\"two\nlines\"\n");
}

TEST_CASE("columns that say nothing in any row are left out") {
  CHECK(text::without_blank_columns({{"a", "b", "c", "d"}, {"1", "-", "", "-"}, {"2", "-", "", "4"}}) ==
        text::Rows{{"a", "d"}, {"1", "-"}, {"2", "4"}});
  CHECK(text::without_blank_columns({{"a", "b"}}) == text::Rows{{"a", "b"}});
  CHECK(text::without_blank_columns({}).empty());
}
