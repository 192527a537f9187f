#include "ferry/hash.h"

#include <doctest/doctest.h>

#include <string_view>

namespace ferry {
namespace {

Hash hash_of(std::string_view text) {
  return blake2b({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST_CASE("the hash of known texts is BLAKE2b with 32 bytes") {
  // The expected values come from b2sum -l 256.
  CHECK(to_hex(hash_of("")) == "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  CHECK(to_hex(hash_of("abc")) == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

}  // namespace
}  // namespace ferry
