// Keeps 51 KB of glibc's dynamic loader out of the static rpc_server, which loads no libraries with it: the search for
// files, their relocation, profiling and debugging output. Starting the program and its threads links them. The
// kernel's vDSO stays, because it makes clock_gettime fast.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

extern "C" {

// dl-load.o, dl-origin.o: the paths where libraries are searched for, $ORIGIN and LD_LIBRARY_PATH among them. glibc
// knows -1 as an unknown origin.
void _dl_init_paths(const char*, const char*, const char*, const char*) {}
const char* _dl_get_origin() { return reinterpret_cast<const char*>(-1); }

// dl-execstack.o: makes the stack of a thread executable, only if the program's own stack is.
int __nptl_change_stack_perm(void*) { return ENOTSUP; }

// dl-reloc.o: only called for a program with read-only relocations, which the static rpc_server is linked without.
void _dl_protect_relro(void*) { __builtin_trap(); }

// dl-profstub.o: counts calls for LD_PROFILE.
void _dl_mcount_wrapper_check(void*) {}

// dl-error.o, dl-exception.o: only called when there is no memory for the thread-local variables of a library.
void _dl_signal_error(int, const char*, const char*, const char*) { __builtin_trap(); }

// dl-find_object.o: the unwind tables of libraries, which the unwinder asks for after those of the program.
int _dl_find_object(void*, void*) { return -1; }

// setenv.o: removes a dangerous variable when a program starts with the rights of another user.
int __unsetenv(const char* name) {
  const std::size_t length = std::strlen(name);
  char** kept = environ;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) != 0 || (*entry)[length] != '=') *kept++ = *entry;
  }
  *kept = nullptr;
  return 0;
}

// dl-printf.o: LD_DEBUG's output, and the reasons why a program cannot start or continue.
void _dl_printf(const char*, ...) {}
void _dl_debug_printf(const char*, ...) {}
void _dl_debug_printf_c(const char*, ...) {}
void _dl_error_printf(const char*, ...) {}
void _dl_fatal_printf(const char* pattern, ...) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, pattern, std::strlen(pattern));
  _exit(127);
}

}  // extern "C"
