// Keeps 150 KB of glibc out of the static rpc_server: translated messages, wide streams, character sets and the dynamic
// loader that loads character sets. Every printf links them, but they are never used here: the only locale is "C", and
// nothing prints wide characters. The linker uses these definitions and omits the members of libc.a that contain the
// others. CMake checks that they fit before it uses this file.
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cwchar>

extern "C" {

// dcgettext.o, gettext.o: messages are not translated.
char* __dcgettext(const char*, const char* text, int) { return const_cast<char*>(text); }
char* dcgettext(const char*, const char* text, int) { return const_cast<char*>(text); }
char* __gettext(const char* text) { return const_cast<char*>(text); }
char* gettext(const char* text) { return const_cast<char*>(text); }

// fxprintf.o: messages of glibc itself, such as failed assertions, to streams that are not wide.
int __fxprintf(FILE* file, const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  const int count = vfprintf(file != nullptr ? file : stderr, pattern, arguments);
  va_end(arguments);
  return count;
}
int __fxprintf_nocancel(FILE* file, const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  const int count = vfprintf(file != nullptr ? file : stderr, pattern, arguments);
  va_end(arguments);
  return count;
}

// readonly-area.o: only needed for %n, which is not used.
int __readonly_area(const char*, std::size_t) { return -1; }

// wcrtomb.o, wcsrtombs.o, btowc.o: conversions in the "C" locale.
std::size_t __wcrtomb(char* to, wchar_t letter, mbstate_t*) {
  if (to != nullptr) *to = static_cast<char>(letter);
  return 1;
}
std::size_t wcrtomb(char* to, wchar_t letter, mbstate_t* state) { return __wcrtomb(to, letter, state); }
std::size_t __wcsrtombs(char*, const wchar_t**, std::size_t, mbstate_t*) { return static_cast<std::size_t>(-1); }
std::size_t wcsrtombs(char* to, const wchar_t** from, std::size_t most, mbstate_t* state) {
  return __wcsrtombs(to, from, most, state);
}
wint_t __btowc(int letter) { return static_cast<wint_t>(letter); }
wint_t btowc(int letter) { return static_cast<wint_t>(letter); }

// wcsmbsload.o, gconv_db.o: conversions of wide streams, of which there are none.
void __wcsmbs_clone_conv(void*) { __builtin_trap(); }
void __wcsmbs_load_conv(void*) { __builtin_trap(); }
int __wcsmbs_named_conv(void*, const char*) { return 1; }
extern const long __wcsmbs_gconv_fcts_c[4];
const long __wcsmbs_gconv_fcts_c[4] = {};
void __gconv_release_step(void*) {}
int __gconv_lock = 0;

}  // extern "C"
