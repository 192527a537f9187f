// Keeps 38 KB of glibc out of the static rpc_server: the conversion of floating-point numbers to text. The few that
// rpc_server prints, durations and refused values, need none of the rest: long double, which fails here, grouped digits
// and %a.
#include <printf.h>

#include <cmath>
#include <cstdio>

#include "device-runtime/static_libc/decimal.h"

namespace {

bool put(FILE* file, char letter, int count) {
  for (int i = 0; i < count; ++i) {
    if (fputc_unlocked(letter, file) == EOF) return false;
  }
  return true;
}

}  // namespace

extern "C" {

// printf_fp.o, and with it fpioconst.o and the arithmetic of large numbers.
int __printf_fp(FILE* file, const printf_info* info, const void* const* arguments) {
  if (info->is_long_double) return -1;
  const double value = *static_cast<const double*>(arguments[0]);
  char text[ferry::static_libc::kMaxDecimal];
  const int length =
      static_cast<int>(ferry::static_libc::write_decimal(value, static_cast<char>(info->spec), info->prec, text));
  const char sign = std::signbit(value) ? '-' : info->showsign ? '+' : info->space ? ' ' : '\0';
  const int used = length + (sign != '\0' ? 1 : 0);
  const int filling = info->width > used ? info->width - used : 0;
  const bool has_zeros = info->pad == L'0' && !info->left && std::isfinite(value);
  const bool is_written = put(file, ' ', info->left || has_zeros ? 0 : filling) &&
                          put(file, sign, sign != '\0' ? 1 : 0) && put(file, '0', has_zeros ? filling : 0) &&
                          fwrite_unlocked(text, 1, static_cast<std::size_t>(length), file) == std::size_t(length) &&
                          put(file, ' ', info->left ? filling : 0);
  return is_written ? used + filling : -1;
}

// printf_fphex.o: %a prints in decimal.
int __printf_fphex(FILE* file, const printf_info* info, const void* const* arguments) {
  return __printf_fp(file, info, arguments);
}

}  // extern "C"
