#include <ctype.h>
#include <doctest/doctest.h>
#include <locale.h>

#include <cstdio>

// ctype.cpp takes it from a static C library; the host's shared one does not export it.
struct __locale_data {};
extern "C" __locale_data _nl_C_LC_NUMERIC;
__locale_data _nl_C_LC_NUMERIC;

// The test is linked with device-runtime/static_libc/ctype.cpp, so isalpha and its like read the tables of that file;
// isalpha_l and its like read those of the host's C library.
namespace ferry::static_libc {

TEST_CASE("every character has the class and the case that it has in the C library's own locale") {
  const locale_t own = newlocale(LC_ALL_MASK, "C", nullptr);
  REQUIRE(own != nullptr);
  REQUIRE(*__ctype_b_loc() != own->__ctype_b);
  for (int letter = -128; letter < 256; ++letter) {
    CAPTURE(letter);
    CHECK((*__ctype_b_loc())[letter] == own->__ctype_b[letter]);
    CHECK((*__ctype_tolower_loc())[letter] == own->__ctype_tolower[letter]);
    CHECK((*__ctype_toupper_loc())[letter] == own->__ctype_toupper[letter]);
  }
  freelocale(own);
}

TEST_CASE("the functions of ctype.h read the tables") {
  CHECK(isalpha('x'));
  CHECK_FALSE(isalpha('1'));
  CHECK(isspace('\n'));
  CHECK_FALSE(isspace(EOF));
  CHECK(toupper('a') == 'A');
  CHECK(tolower(EOF) == EOF);
}

}  // namespace ferry::static_libc
