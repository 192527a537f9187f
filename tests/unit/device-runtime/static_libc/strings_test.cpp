#if defined(__x86_64__)

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

// The test is linked with device-runtime/static_libc/strings.cpp. These names keep the compiler from replacing a call.
extern "C" {
int ferry_strcmp(const char* a, const char* b) __asm__("strcmp");
int ferry_strncmp(const char* a, const char* b, std::size_t most) __asm__("strncmp");
const char* ferry_strstr(const char* text, const char* part) __asm__("strstr");
}

namespace ferry::static_libc {
namespace {

int sign(int value) { return (value > 0) - (value < 0); }

// Compares as C defines it: by unsigned characters, up to the first zero or `most` characters.
int expected(const std::string& a, const std::string& b, std::size_t most) {
  const std::vector<std::uint8_t> x(a.c_str(), a.c_str() + std::min(a.size() + 1, most));
  const std::vector<std::uint8_t> y(b.c_str(), b.c_str() + std::min(b.size() + 1, most));
  return (y < x) - (x < y);
}

void check(const std::string& a, const std::string& b) {
  CAPTURE(a);
  CAPTURE(b);
  CHECK(sign(ferry_strcmp(a.c_str(), b.c_str())) == expected(a, b, SIZE_MAX));
  for (std::size_t most = 0; most <= std::max(a.size(), b.size()) + 2; ++most) {
    CAPTURE(most);
    CHECK(sign(ferry_strncmp(a.c_str(), b.c_str(), most)) == expected(a, b, most));
  }
}

TEST_CASE("strings are compared by their unsigned characters, and a prefix is less") {
  for (const char* a : {"", "a", "ab", "abc", "b", "\x7f", "\x80", "\xff", "a\xff", "a\x01"}) {
    for (const char* b : {"", "a", "ab", "abc", "b", "\x7f", "\x80", "\xff", "a\xff", "a\x01"}) check(a, b);
  }
}

TEST_CASE("random strings with long common prefixes are ordered as C defines it") {
  std::mt19937 random(7);
  const auto text = [&] {
    std::string result(random() % 40, 'x');
    for (char& letter : result) {
      if (random() % 16 == 0) letter = static_cast<char>(random() % 255 + 1);
    }
    return result;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string a = text();
    check(a, i % 2 == 0 ? text() : a + text());
  }
}

TEST_CASE("the first occurrence of a string is found, an empty one at the beginning") {
  for (const std::string text : {"", "a", "ab", "aab", "aaab", "abab", "abcabd", "r,ccs=utf-8", "\xff\x80"}) {
    for (const std::string part : {"", "a", "b", "ab", "aab", "abd", "abcabd!", ",ccs=", "\x80"}) {
      CAPTURE(text);
      CAPTURE(part);
      const char* found = ferry_strstr(text.c_str(), part.c_str());
      const std::size_t expected = text.find(part);
      CHECK((found == nullptr ? std::string::npos : static_cast<std::size_t>(found - text.c_str())) == expected);
    }
  }
}

TEST_CASE("nothing is read behind the limit or behind the first difference") {
  const char unterminated[] = {'a', 'b'};
  CHECK(ferry_strncmp(unterminated, unterminated, 2) == 0);
  CHECK(ferry_strncmp(unterminated, unterminated + 1, 1) < 0);
  CHECK(ferry_strncmp(nullptr, nullptr, 0) == 0);
}

}  // namespace
}  // namespace ferry::static_libc

#endif
