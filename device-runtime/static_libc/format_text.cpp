#include "device-runtime/static_libc/format_text.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "device-runtime/static_libc/decimal.h"

namespace ferry::static_libc {
namespace {

class Output {
 public:
  Output(char* to, std::size_t room) : to_(to), room_(room) {}

  void put(char letter) {
    if (length_ + 1 < room_) to_[length_] = letter;
    ++length_;
  }
  void put(const char* text, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) put(text[i]);
  }
  void fill(char letter, int count) {
    for (int i = 0; i < count; ++i) put(letter);
  }
  int end() {
    if (room_ > 0) to_[length_ < room_ ? length_ : room_ - 1] = 0;
    return static_cast<int>(length_);
  }

 private:
  char* to_;
  std::size_t room_, length_ = 0;
};

// Flags, width, precision and size, which stand between % and the letter.
struct Conversion {
  bool is_left = false, has_zeros = false, is_alternative = false;
  char plus = 0;  // what stands before numbers that are not negative; 0: nothing
  int width = 0, precision = -1;
  int bytes = sizeof(int);  // the size of an integer
};

// Writes what it has between blanks, with zeros before the text where the precision or the width wants them.
void put_padded(Output& output, const Conversion& how, const char* prefix, int zeros, const char* text,
                std::size_t length) {
  const std::size_t prefix_length = std::strlen(prefix);
  const int padding = how.width - static_cast<int>(prefix_length + length) - zeros;
  if (!how.is_left && !how.has_zeros) output.fill(' ', padding);
  output.put(prefix, prefix_length);
  output.fill('0', zeros);
  if (!how.is_left && how.has_zeros) output.fill('0', padding);
  output.put(text, length);
  if (how.is_left) output.fill(' ', padding);
}

void put_integer(Output& output, Conversion how, std::uint64_t value, bool is_negative, char letter) {
  const unsigned base = letter == 'o' ? 8 : letter == 'x' || letter == 'X' || letter == 'p' ? 16 : 10;
  const char* const digits = letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  char text[24];
  char* const end = text + sizeof text;
  char* at = end;
  const bool is_zero = value == 0;
  for (; value != 0; value /= base) *--at = digits[value % base];
  if (how.precision >= 0) how.has_zeros = false;
  int zeros = (how.precision >= 0 ? how.precision : 1) - static_cast<int>(end - at);
  if (zeros < 0) zeros = 0;
  char prefix[3] = {is_negative ? '-' : letter == 'd' ? how.plus : '\0', 0, 0};
  if (how.is_alternative && base == 8 && zeros == 0) zeros = 1;
  if (letter == 'p' || (how.is_alternative && base == 16 && !is_zero)) {
    prefix[0] = '0';
    prefix[1] = letter == 'X' ? 'X' : 'x';
  }
  put_padded(output, how, prefix, zeros, at, static_cast<std::size_t>(end - at));
}

void put_float(Output& output, Conversion how, double value, char letter) {
  char text[kMaxDecimal];
  const std::size_t length = write_decimal(value, letter, how.precision, text);
  const char prefix[2] = {std::signbit(value) ? '-' : how.plus, 0};
  how.has_zeros = how.has_zeros && std::isfinite(value);
  put_padded(output, how, prefix, 0, text, length);
}

void put_string(Output& output, Conversion how, const char* text) {
  if (text == nullptr) text = "(null)";
  how.has_zeros = false;
  const std::size_t most = how.precision < 0 ? SIZE_MAX : static_cast<std::size_t>(how.precision);
  std::size_t length = 0;
  while (length < most && text[length] != 0) ++length;
  put_padded(output, how, "", 0, text, length);
}

// A list of arguments that functions can share.
struct Arguments {
  va_list list;

  std::uint64_t unsigned_integer(int bytes) {
    if (bytes > static_cast<int>(sizeof(int))) return va_arg(list, std::uint64_t);
    const unsigned value = va_arg(list, unsigned);
    return bytes == 1 ? static_cast<unsigned char>(value) : bytes == 2 ? static_cast<unsigned short>(value) : value;
  }
  std::int64_t integer(int bytes) {
    const std::uint64_t value = unsigned_integer(bytes);
    const int unused = 64 - 8 * bytes;
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  // A width or a precision: digits, or the next argument.
  int number(const char*& pattern) {
    if (*pattern == '*') {
      ++pattern;
      return va_arg(list, int);
    }
    int value = 0;
    while (*pattern >= '0' && *pattern <= '9' && value < 1'000'000) value = 10 * value + (*pattern++ - '0');
    return value;
  }
};

// Reads flags, width, precision and size of the argument.
Conversion read_conversion(const char*& pattern, Arguments& arguments) {
  Conversion how;
  for (;; ++pattern) {
    switch (*pattern) {
      case '-': how.is_left = true; continue;
      case '0': how.has_zeros = true; continue;
      case '#': how.is_alternative = true; continue;
      case '+': how.plus = '+'; continue;
      case ' ': how.plus = how.plus == 0 ? ' ' : how.plus; continue;
      default: break;
    }
    break;
  }
  how.width = arguments.number(pattern);
  if (how.width < 0) {
    how.is_left = true;
    how.width = -how.width;
  }
  if (*pattern == '.') how.precision = arguments.number(++pattern);
  for (bool is_long = false;; ++pattern) {
    switch (*pattern) {
      case 'h': how.bytes /= 2; continue;
      case 'l':
        how.bytes = is_long ? sizeof(long long) : sizeof(long);
        is_long = true;
        continue;
      case 'z':
      case 't': how.bytes = sizeof(std::size_t); continue;
      case 'j': how.bytes = sizeof(std::intmax_t); continue;
      default: return how;
    }
  }
}

// Writes the next argument. Returns false if it is of no kind that is known here.
bool put_next(Output& output, const Conversion& how, char letter, Arguments& arguments) {
  switch (letter) {
    case '%': output.put('%'); return true;
    case 'c': {
      const char text[] = {static_cast<char>(va_arg(arguments.list, int)), 0};
      Conversion one = how;
      one.has_zeros = false;
      put_padded(output, one, "", 0, text, 1);
      return true;
    }
    case 's': put_string(output, how, va_arg(arguments.list, const char*)); return true;
    case 'd':
    case 'i': {
      const std::int64_t value = arguments.integer(how.bytes);
      const auto bits = static_cast<std::uint64_t>(value);
      put_integer(output, how, value < 0 ? 0 - bits : bits, value < 0, 'd');
      return true;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': put_integer(output, how, arguments.unsigned_integer(how.bytes), false, letter); return true;
    case 'p': put_integer(output, how, arguments.unsigned_integer(sizeof(void*)), false, letter); return true;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': put_float(output, how, va_arg(arguments.list, double), letter); return true;
    default: return false;
  }
}

}  // namespace

int write_text(char* to, std::size_t room, const char* pattern, va_list given) {
  Output output(to, room);
  Arguments arguments;
  va_copy(arguments.list, given);
  bool is_known = true;
  while (*pattern != 0 && is_known) {
    if (*pattern != '%') {
      output.put(*pattern++);
      continue;
    }
    const Conversion how = read_conversion(++pattern, arguments);
    is_known = put_next(output, how, *pattern, arguments);
    ++pattern;
  }
  va_end(arguments.list);
  const int length = output.end();
  return is_known ? length : -1;
}

}  // namespace ferry::static_libc
