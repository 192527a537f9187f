// Keeps 14 KB of glibc out of the static rpc_server for x86_64: each of glibc's variants of strcmp and strncmp unrolls
// its loop to more than 5 KB, and only glibc itself searches for a string, in an argument of fopen.
#if defined(__x86_64__)

#include <cstddef>

// The headers' declarations state attributes that a definition cannot repeat.
extern "C" {
int ferry_strcmp(const char* a, const char* b) __asm__("strcmp");
int ferry_strncmp(const char* a, const char* b, std::size_t most) __asm__("strncmp");
const char* ferry_strstr(const char* text, const char* part) __asm__("strstr");

int ferry_strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

int ferry_strncmp(const char* a, const char* b, std::size_t most) {
  for (; most != 0; ++a, ++b, --most) {
    if (*a == 0 || *a != *b) return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
  }
  return 0;
}

const char* ferry_strstr(const char* text, const char* part) {
  for (;; ++text) {
    std::size_t same = 0;
    while (part[same] != 0 && text[same] == part[same]) ++same;
    if (part[same] == 0) return text;
    if (text[same] == 0) return nullptr;
  }
}
}

#endif
