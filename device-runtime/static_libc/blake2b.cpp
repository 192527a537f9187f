// Keeps 12 KB of libsodium out of the static rpc_server for x86_64: processors without AVX2, which are those before
// 2013, compute BLAKE2b with the portable code instead of that for SSSE3 or SSE4.1.
#if defined(__x86_64__)

__asm__(
    ".text\n"
    ".globl blake2b_compress_ssse3, blake2b_compress_sse41\n"
    ".type blake2b_compress_ssse3, @function\n"
    ".type blake2b_compress_sse41, @function\n"
    "blake2b_compress_ssse3: blake2b_compress_sse41: jmp blake2b_compress_ref");

#endif
