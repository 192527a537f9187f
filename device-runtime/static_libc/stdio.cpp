// Keeps 56 KB of glibc out of the static rpc_server: streams with their buffers, and printf. A stream is the descriptor
// that it writes to, and each call is a write of its own. Nothing is read from streams.
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device-runtime/static_libc/format_text.h"

namespace {

using ferry::static_libc::write_text;

FILE* stream_of(int descriptor) { return reinterpret_cast<FILE*>(static_cast<std::intptr_t>(descriptor)); }

bool write_all(FILE* file, const char* text, std::size_t length) {
  while (length > 0) {
    const ssize_t written = write(static_cast<int>(reinterpret_cast<std::intptr_t>(file)), text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text += written;
    length -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

extern "C" {

// stdio.o, stdfiles.o
FILE* stdin = stream_of(STDIN_FILENO);
FILE* stdout = stream_of(STDOUT_FILENO);
FILE* stderr = stream_of(STDERR_FILENO);

// vsnprintf.o, snprintf.o
int vsnprintf(char* to, std::size_t room, const char* pattern, va_list arguments) noexcept {
  return write_text(to, room, pattern, arguments);
}
int snprintf(char* to, std::size_t room, const char* pattern, ...) noexcept {
  va_list arguments;
  va_start(arguments, pattern);
  const int length = write_text(to, room, pattern, arguments);
  va_end(arguments);
  return length;
}
__asm__(".globl __snprintf\n.set __snprintf, snprintf");

// sprintf.o, for the names of types
int sprintf(char* to, const char* pattern, ...) noexcept {
  va_list arguments;
  va_start(arguments, pattern);
  const int length = write_text(to, INT_MAX, pattern, arguments);
  va_end(arguments);
  return length;
}

// asprintf.o, for the text of an unknown error
int __asprintf(char** text, const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  constexpr std::size_t kRoom = 256;
  *text = static_cast<char*>(std::malloc(kRoom));
  const int length = *text == nullptr ? -1 : write_text(*text, kRoom, pattern, arguments);
  va_end(arguments);
  return length;
}

// vfprintf.o, fprintf.o, printf.o
int vfprintf(FILE* file, const char* pattern, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  char small[512];
  char* text = small;
  int length = write_text(small, sizeof small, pattern, arguments);
  if (length >= static_cast<int>(sizeof small)) {
    const auto room = static_cast<std::size_t>(length) + 1;
    text = static_cast<char*>(std::malloc(room));
    length = text == nullptr ? -1 : write_text(text, room, pattern, again);
  }
  va_end(again);
  const bool is_written = length >= 0 && write_all(file, text, static_cast<std::size_t>(length));
  if (text != small) std::free(text);
  return is_written ? length : -1;
}
int fprintf(FILE* file, const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  const int length = vfprintf(file, pattern, arguments);
  va_end(arguments);
  return length;
}
int printf(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  const int length = vfprintf(stdout, pattern, arguments);
  va_end(arguments);
  return length;
}

// fputc.o, iofputs.o, iofwrite.o, iofflush.o, iofdopen.o
int fputc(int letter, FILE* file) {
  const char text = static_cast<char>(letter);
  return write_all(file, &text, 1) ? letter : EOF;
}
int fputs(const char* text, FILE* file) { return write_all(file, text, std::strlen(text)) ? 1 : EOF; }
std::size_t fwrite(const void* data, std::size_t size, std::size_t count, FILE* file) {
  return write_all(file, static_cast<const char*>(data), size * count) ? count : 0;
}
__asm__(".globl _IO_fputs\n.set _IO_fputs, fputs");
int fflush(FILE*) { return 0; }
FILE* fdopen(int descriptor, const char*) noexcept { return stream_of(descriptor); }

// gettext.o, dcgettext.o: messages are not translated.
char* gettext(const char* text) noexcept { return const_cast<char*>(text); }
char* __dcgettext(const char*, const char* text, int) { return const_cast<char*>(text); }

// genops.o: locks of streams, for threads and for fork. There are no streams that have any.
void _IO_enable_locks() {}
void _IO_list_lock() {}
void _IO_list_unlock() {}
void _IO_list_resetlock() {}
void* _IO_iter_begin() { return nullptr; }
void* _IO_iter_end() { return nullptr; }
void* _IO_iter_next(void*) { return nullptr; }
FILE* _IO_iter_file(void*) { return nullptr; }

// tzfile.o, isoc99_sscanf.o: files and names of time zones. All times here are UTC.
int __use_tzfile = 0;
void __tzfile_read(const char*, std::size_t, char**) {}
void __tzfile_default(const char*, const char*, int, int) {}
void __tzfile_compute(long long, int, long*, int*, void*) {}
int __isoc99_sscanf(const char*, const char*, ...) { return 0; }

// assert.o
void __assert_fail(const char* assertion, const char* file, unsigned line, const char* function) noexcept {
  fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function == nullptr ? "" : function, assertion);
  std::abort();
}

}  // extern "C"
