#include "ferry/secret_seed.h"

#include <doctest/doctest.h>

#include <set>

#include "ferry/error.h"

namespace ferry {
namespace {

TEST_CASE("a secret seed is written as 32 digits, the higher half first, and read back") {
  const SecretSeed seed{0x0123456789abcdef, 0xfedcba9876543210};
  CHECK(to_text(seed) == "fedcba98765432100123456789abcdef");
  CHECK(parse_secret_seed(to_text(seed)) == seed);
  CHECK(to_text(SecretSeed{1, 0}) == "00000000000000000000000000000001");
}

TEST_CASE("a text that is no secret seed is refused") {
  for (const char* text : {"", "12", "fedcba98765432100123456789abcde", "fedcba98765432100123456789abcdeff",
                           "FEDCBA98765432100123456789ABCDEF", "fedcba98765432100123456789abcdeg",
                           "00000000000000000000000000000000", "00000000000000010000000000000000"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_secret_seed(text), UsageError);
  }
}

TEST_CASE("drawn and derived seeds all differ, and derived ones are the same again") {
  std::set<std::string> texts;
  const SecretSeed seed = draw_secret_seed();
  for (int i = 0; i < 100; ++i) {
    texts.insert(to_text(draw_secret_seed()));
    texts.insert(to_text(derived_seed(seed, static_cast<std::uint64_t>(i))));
    // Both halves matter.
    texts.insert(to_text(derived_seed({seed.low, seed.high ^ 1}, static_cast<std::uint64_t>(i))));
    texts.insert(to_text(derived_seed({seed.low ^ 2, seed.high}, static_cast<std::uint64_t>(i))));
  }
  CHECK(texts.size() == 400);
  CHECK(derived_seed(seed, 7) == derived_seed(seed, 7));
  CHECK(derived_seed(seed, 7).low != 0);
}

}  // namespace
}  // namespace ferry
