// Keeps 180 KB of glibc out of the static rpc_server for x86_64: variants of functions for kinds of CPU. Processors
// with FMA, which are those from 2013 on, run the same code as before in libm; older ones run the code for SSE2 instead
// of that for AVX or FMA4. A call or a transfer uses memcpy, memmove, memset, memcmp and memchr, which choose their
// variant as before; strcmp and strncmp are in strings.cpp, all other string functions are the variants for SSE2.
#if defined(__x86_64__)

// Defines a function that jumps to another.
#define FERRY_FORWARD(name, other) \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ": jmp " #other);

// libm's variants for AVX and for FMA4, to which the choice in its other files refers.
#define FERRY_FMA4(name) FERRY_FORWARD(name##_fma4, name##_sse2)
#define FERRY_AVX(name) FERRY_FORWARD(name##_avx, name##_sse2)
FERRY_FMA4(__ieee754_acos)
FERRY_FMA4(__ieee754_asin)
FERRY_FMA4(__ieee754_atan2)
FERRY_FMA4(__ieee754_exp)
FERRY_FMA4(__ieee754_log)
FERRY_FMA4(__ieee754_pow)
FERRY_FMA4(__atan)
FERRY_FMA4(__cos)
FERRY_FMA4(__sin)
FERRY_FMA4(__tan)
FERRY_AVX(__ieee754_atan2)
FERRY_AVX(__ieee754_exp)
FERRY_AVX(__ieee754_log)
FERRY_AVX(__atan)
FERRY_AVX(__cos)
FERRY_AVX(__sin)
FERRY_AVX(__tan)

// Those of asin and acos for FMA, whose object repeats a table of 20 KB: every processor runs the code for SSE2.
FERRY_FORWARD(__ieee754_acos_fma, __ieee754_acos_sse2)
FERRY_FORWARD(__ieee754_asin_fma, __ieee754_asin_sse2)

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
