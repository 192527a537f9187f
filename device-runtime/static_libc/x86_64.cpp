// Keeps 230 KB of glibc out of the static rpc_server for x86_64: variants of functions for kinds of CPU. Processors
// with FMA, which are those from 2013 on, run libm's code for it; older ones run the code for SSE2 instead of that for
// AVX or FMA4. A call or a transfer uses memcpy, memmove, memset, memcmp and memchr, which choose between the variants
// for SSE2, AVX2 and 256-bit AVX-512; strcmp, strncmp and strstr are in strings.cpp, all other string functions are the
// variants for SSE2.
#if defined(__x86_64__)

// Defines a function that jumps to another.
#define FERRY_FORWARD(name, other) \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ": jmp " #other);

// libm's variants for AVX and for FMA4, to which the choice in its other files refers.
#define FERRY_FMA4(name) FERRY_FORWARD(name##_fma4, name##_sse2)
#define FERRY_AVX(name) FERRY_FORWARD(name##_avx, name##_sse2)
FERRY_FMA4(__ieee754_exp)
FERRY_FMA4(__ieee754_log)
FERRY_FMA4(__ieee754_pow)
FERRY_FMA4(__cos)
FERRY_FMA4(__sin)
FERRY_AVX(__ieee754_exp)
FERRY_AVX(__ieee754_log)
FERRY_AVX(__cos)
FERRY_AVX(__sin)

// glibc chooses the variants "rtm" on processors with transactional memory, since the usual ones end a transaction.
// There are no transactions here.
#define FERRY_RTM(name) FERRY_FORWARD(name##_rtm, name)
FERRY_RTM(__memcpy_avx_unaligned)
FERRY_RTM(__memcpy_avx_unaligned_erms)
FERRY_RTM(__memmove_avx_unaligned)
FERRY_RTM(__memmove_avx_unaligned_erms)
FERRY_RTM(__mempcpy_avx_unaligned)
FERRY_RTM(__mempcpy_avx_unaligned_erms)
FERRY_RTM(__memset_avx2_unaligned)
FERRY_RTM(__memset_avx2_unaligned_erms)
FERRY_RTM(__memcmp_avx2_movbe)
FERRY_RTM(__memchr_avx2)
FERRY_RTM(__memchr_evex)

// The variants for 512-bit vectors, which glibc chooses on Xeon Phi and on AMD's processors with AVX-512. On others
// with AVX-512 it prefers those with 256 bits ("evex").
#define FERRY_AVX512(function, target)                   \
  FERRY_FORWARD(function##_avx512_no_vzeroupper, target) \
  FERRY_FORWARD(function##_avx512_unaligned, target)     \
  FERRY_FORWARD(function##_avx512_unaligned_erms, target##_erms)
FERRY_AVX512(__memcpy, __memcpy_avx_unaligned)
FERRY_AVX512(__memmove, __memmove_avx_unaligned)
FERRY_AVX512(__mempcpy, __mempcpy_avx_unaligned)
FERRY_AVX512(__memset, __memset_avx2_unaligned)

// The variants for processors before 2013 whose unaligned loads are slow.
FERRY_FORWARD(__memcpy_ssse3, __memcpy_sse2_unaligned)
FERRY_FORWARD(__memmove_ssse3, __memmove_sse2_unaligned)
FERRY_FORWARD(__mempcpy_ssse3, __mempcpy_sse2_unaligned)

// strlen.o, strnlen.o and so on, each of which refers to all of its variants.
FERRY_FORWARD(strlen, __strlen_sse2)
FERRY_FORWARD(strnlen, __strnlen_sse2)
FERRY_FORWARD(__strnlen, __strnlen_sse2)
FERRY_FORWARD(strchr, __strchr_sse2)
FERRY_FORWARD(index, __strchr_sse2)
FERRY_FORWARD(strchrnul, __strchrnul_sse2)
FERRY_FORWARD(__strchrnul, __strchrnul_sse2)
FERRY_FORWARD(strrchr, __strrchr_sse2)
FERRY_FORWARD(rindex, __strrchr_sse2)
FERRY_FORWARD(strcpy, __strcpy_sse2)
FERRY_FORWARD(stpcpy, __stpcpy_sse2)
FERRY_FORWARD(__stpcpy, __stpcpy_sse2)
FERRY_FORWARD(rawmemchr, __rawmemchr_sse2)
FERRY_FORWARD(__rawmemchr, __rawmemchr_sse2)

#endif
