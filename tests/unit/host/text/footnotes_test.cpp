#include "host/text/footnotes.h"

#include <doctest/doctest.h>

using ferry::text::Footnotes;

TEST_CASE("texts that differ in numbers alone share a note") {
  Footnotes notes;
  CHECK(notes.marks({"96 of 100 samples hit", "load 2.5"}) == "1 2");
  CHECK(notes.marks({}) == "");
  CHECK(notes.marks({"load 2.5", "hot"}) == "2 3");
  CHECK(notes.marks({"7 of 100 samples hit"}) == "1");
  CHECK(notes.marks({"hot", "8 of 100 samples hit", "hot"}) == "1 3");
  CHECK(notes.lines() == std::vector<std::string>{"1  96 of 100 samples hit (in other rows with other numbers)",
                                                  "2  load 2.5", "3  hot"});
}
