#include "device-runtime/static_libc/format_text.h"

#include <doctest/doctest.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace ferry::static_libc {
namespace {

struct Written {
  int length = 0;
  std::string text;
  bool operator==(const Written&) const = default;
};

Written written(std::size_t room, const char* pattern, ...) {
  char text[1000] = "untouched";
  va_list arguments;
  va_start(arguments, pattern);
  const int length = write_text(text, room, pattern, arguments);
  va_end(arguments);
  return {length, text};
}

Written printed(std::size_t room, const char* pattern, ...) {
  char text[1000] = "untouched";
  va_list arguments;
  va_start(arguments, pattern);
  const int length = std::vsnprintf(text, room, pattern, arguments);
  va_end(arguments);
  return {length, text};
}

// The pattern comes from the test, so the compiler cannot check it.
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

template <class... Arguments>
void check_as_printf(const std::string& pattern, Arguments... arguments) {
  const Written mine = written(1000, pattern.c_str(), arguments...),
                theirs = printed(1000, pattern.c_str(), arguments...);
  CHECK_MESSAGE(mine == theirs, pattern << ": '" << mine.text << "' against '" << theirs.text << "'");
}

// Calls with each combination of flags, widths and precisions.
template <class Visitor>
void for_each_option(const std::string& flags, const Visitor& visit) {
  for (std::size_t set = 0; set < std::size_t{1} << flags.size(); ++set) {
    std::string chosen;
    for (std::size_t i = 0; i < flags.size(); ++i)
      if ((set >> i & 1) != 0) chosen += flags[i];
    for (const char* width : {"", "1", "3", "12", "25"})
      for (const char* precision : {"", ".", ".0", ".1", ".5", ".20"}) visit(chosen + width + precision);
  }
}

}  // namespace

TEST_CASE("integers of every size are written as printf writes them") {
  for_each_option("-0+ ", [](const std::string& options) {
    for (const long long value : {0LL, 1LL, -1LL, 42LL, -123456LL, LLONG_MAX, LLONG_MIN}) {
      check_as_printf("%" + options + "d", static_cast<int>(value));
      check_as_printf("%" + options + "i|", static_cast<int>(value));
      check_as_printf("%" + options + "hhd", static_cast<int>(value));
      check_as_printf("%" + options + "hd", static_cast<int>(value));
      check_as_printf("%" + options + "ld", static_cast<long>(value));
      check_as_printf("%" + options + "lld", value);
      check_as_printf("%" + options + "jd", static_cast<std::intmax_t>(value));
      check_as_printf("%" + options + "td", static_cast<std::ptrdiff_t>(value));
    }
  });
  for_each_option("-0#", [](const std::string& options) {
    for (const unsigned long long value : {0ULL, 7ULL, 8ULL, 255ULL, 4'000'000'000ULL, ULLONG_MAX}) {
      for (const char letter : {'u', 'o', 'x', 'X'}) {
        if (letter == 'u' && options.find('#') != std::string::npos) continue;  // undefined
        check_as_printf("%" + options + letter, static_cast<unsigned>(value));
        check_as_printf("%" + options + "hh" + letter, static_cast<unsigned>(value));
        check_as_printf("%" + options + "h" + letter, static_cast<unsigned>(value));
        check_as_printf("%" + options + "l" + letter, static_cast<unsigned long>(value));
        check_as_printf("%" + options + "ll" + letter, value);
        check_as_printf("%" + options + "z" + letter, static_cast<std::size_t>(value));
      }
    }
  });
}

TEST_CASE("floats have sign, width, zeros and alignment as printf writes them") {
  const double infinity = std::numeric_limits<double>::infinity();
  for_each_option("-0+ ", [&](const std::string& options) {
    for (const double value : {0.0, -0.0, 1.5, -1.5, 123456.789, 1e-7, infinity, -infinity, std::nan("")})
      for (const char letter : {'e', 'f', 'g', 'E', 'G'}) check_as_printf("%" + options + letter, value);
  });
}

TEST_CASE("strings, letters, pointers and arguments for width and precision are written as printf writes them") {
  for_each_option("-", [](const std::string& options) {
    check_as_printf("<%" + options + "s>", "");
    check_as_printf("<%" + options + "s>", "a longer text");
  });
  check_as_printf("%c%5c%-5c|", 'a', 'b', 'c');
  check_as_printf("%p", reinterpret_cast<void*>(std::uintptr_t{0xabc0}));
  check_as_printf("%*d|%*d|%.*s|%-*.*f|", 7, 42, -7, 42, 2, "abc", 9, 3, 2.5);
  check_as_printf("%.*s", -1, "negative precisions are none");
  check_as_printf("100%% of %s", "it");
  check_as_printf("%016llx %02x %03o %.15g %zu", 0xfedcULL, 5u, 8u, 0.1, std::size_t{9});
}

TEST_CASE("no more is written than there is room for, and the length is that of the whole text") {
  for (const std::size_t room : {0u, 1u, 2u, 5u, 8u, 9u, 100u}) {
    const Written mine = written(room, "%s-%d", "text", 123);
    CHECK(mine == printed(room, "%s-%d", "text", 123));
    CHECK(mine.length == 8);
  }
}

TEST_CASE("what it does not know fails instead of printing something wrong") {
  CHECK(written(100, "%Lg", 0.1L).length == -1);
  CHECK(written(100, "%1$d", 1).length == -1);
  int count = 7;
  CHECK(written(100, "%n", &count).length == -1);
  CHECK(count == 7);
  CHECK(written(100, "%").length == -1);
}

}  // namespace ferry::static_libc
