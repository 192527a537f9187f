// Keeps 15 KB of glibc out of the static rpc_server: the functions of wide streams, to which those of every stream
// refer. Nothing makes a stream wide here, so none of these is ever called.
#include <array>
#include <cstdio>
#include <cwchar>

extern "C" {

// wfileops.o: the virtual functions of wide streams, to which fopen and the standard streams point, and writing. As
// many entries as glibc's own table has.
using Functions = std::array<void (*)(), 21>;
extern const Functions _IO_wfile_jumps;
extern const Functions _IO_wfile_jumps_mmap;
extern const Functions _IO_wfile_jumps_maybe_mmap;
constexpr Functions _IO_wfile_jumps{};
constexpr Functions _IO_wfile_jumps_mmap{};
constexpr Functions _IO_wfile_jumps_maybe_mmap{};
int _IO_wdo_write(FILE*, const wchar_t*, std::size_t) { __builtin_trap(); }

// wgenops.o: the buffers of wide streams.
void _IO_wsetb(FILE*, wchar_t*, wchar_t*, int) { __builtin_trap(); }
void _IO_free_wbackup_area(FILE*) { __builtin_trap(); }

}  // extern "C"
