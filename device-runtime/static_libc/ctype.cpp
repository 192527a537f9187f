// Keeps 62 KB of glibc out of the static rpc_server: the data of the "C" locale, most of it tables of wide characters
// and their transliterations. strtol and strerror link it. Only the three tables remain that isalpha, tolower
// and their like read.
#include <ctype.h>
#include <locale.h>

#include <array>
#include <cstdint>
#include <cstdio>

namespace {

// The tables are indexed by every signed and every unsigned char and by EOF, which is -1.
constexpr int kFirst = -128;
template <typename Value>
using Table = std::array<Value, 384>;

constexpr bool is_between(int letter, int first, int last) { return letter >= first && letter <= last; }

constexpr unsigned short class_of(int letter) {
  const bool is_upper = is_between(letter, 'A', 'Z'), is_lower = is_between(letter, 'a', 'z');
  const bool is_alpha = is_upper || is_lower, is_digit = is_between(letter, '0', '9');
  const bool is_graph = is_between(letter, '!', '~');
  int bits = 0;
  if (is_upper) bits |= _ISupper;
  if (is_lower) bits |= _ISlower;
  if (is_alpha) bits |= _ISalpha;
  if (is_digit) bits |= _ISdigit;
  if (is_digit || is_between(letter, 'A', 'F') || is_between(letter, 'a', 'f')) bits |= _ISxdigit;
  if (letter == ' ' || is_between(letter, '\t', '\r')) bits |= _ISspace;
  if (letter == ' ' || is_graph) bits |= _ISprint;
  if (is_graph) bits |= _ISgraph;
  if (letter == ' ' || letter == '\t') bits |= _ISblank;
  if (is_between(letter, 0, 31) || letter == 127) bits |= _IScntrl;
  if (is_graph && !is_alpha && !is_digit) bits |= _ISpunct;
  if (is_alpha || is_digit) bits |= _ISalnum;
  return static_cast<unsigned short>(bits);
}

constexpr std::int32_t itself(int letter) { return letter < EOF ? letter + 256 : letter; }
constexpr std::int32_t upper_of(int letter) { return is_between(letter, 'a', 'z') ? letter - 32 : itself(letter); }
constexpr std::int32_t lower_of(int letter) { return is_between(letter, 'A', 'Z') ? letter + 32 : itself(letter); }

template <typename Value>
constexpr Table<Value> table_of(Value (*entry)(int)) {
  Table<Value> table{};
  for (int i = 0; i < static_cast<int>(table.size()); ++i) table[static_cast<std::size_t>(i)] = entry(kFirst + i);
  return table;
}

}  // namespace

extern "C" {

// C-ctype.o: global-locale.o refers to these tables, and only weakly to everything else in the C-*.o.
extern const Table<unsigned short> _nl_C_LC_CTYPE_class;
extern const Table<std::int32_t> _nl_C_LC_CTYPE_toupper;
extern const Table<std::int32_t> _nl_C_LC_CTYPE_tolower;
constexpr Table<unsigned short> _nl_C_LC_CTYPE_class = table_of(class_of);
constexpr Table<std::int32_t> _nl_C_LC_CTYPE_toupper = table_of(upper_of);
constexpr Table<std::int32_t> _nl_C_LC_CTYPE_tolower = table_of(lower_of);

// xlocale.o: the "C" locale. Only its category for numbers remains, for strtod and grouped digits; wide characters and
// dates would read others.
extern __locale_data _nl_C_LC_NUMERIC;
extern const __locale_struct _nl_C_locobj;
const __locale_struct _nl_C_locobj = {.__locales = {nullptr, &_nl_C_LC_NUMERIC},
                                      .__ctype_b = _nl_C_LC_CTYPE_class.data() - kFirst,
                                      .__ctype_tolower = _nl_C_LC_CTYPE_tolower.data() - kFirst,
                                      .__ctype_toupper = _nl_C_LC_CTYPE_toupper.data() - kFirst,
                                      .__names = {}};
static_assert(LC_NUMERIC == 1);

// ctype-info.o: the tables of the current locale, which never changes.
extern __thread const unsigned short* __libc_tsd_CTYPE_B;
extern __thread const std::int32_t* __libc_tsd_CTYPE_TOLOWER;
extern __thread const std::int32_t* __libc_tsd_CTYPE_TOUPPER;
__thread const unsigned short* __libc_tsd_CTYPE_B = _nl_C_LC_CTYPE_class.data() - kFirst;
__thread const std::int32_t* __libc_tsd_CTYPE_TOLOWER = _nl_C_LC_CTYPE_tolower.data() - kFirst;
__thread const std::int32_t* __libc_tsd_CTYPE_TOUPPER = _nl_C_LC_CTYPE_toupper.data() - kFirst;
void __ctype_init() {}
const unsigned short** __ctype_b_loc() noexcept { return &__libc_tsd_CTYPE_B; }
const std::int32_t** __ctype_tolower_loc() noexcept { return &__libc_tsd_CTYPE_TOLOWER; }
const std::int32_t** __ctype_toupper_loc() noexcept { return &__libc_tsd_CTYPE_TOUPPER; }

}  // extern "C"
