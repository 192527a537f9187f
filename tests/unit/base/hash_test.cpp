#include "ferry/hash.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/hash_stream.h"

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

TEST_CASE("the hash of contents in pieces is that of the whole") {
  const std::string text(1000, 'x');
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{128}, std::size_t{999}}) {
    HashStream stream;
    for (std::size_t i = 0; i < bytes.size(); i += piece)
      stream.add(bytes.subspan(i, std::min(piece, bytes.size() - i)));
    CHECK(stream.finish() == blake2b(bytes));
  }
  CHECK(HashStream().finish() == hash_of(""));
}

}  // namespace
}  // namespace ferry
