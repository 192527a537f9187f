// Keeps 31 KB of libsodium out of the static rpc_server for x86_64: variants of functions for kinds of CPU. Processors
// without AVX2, which are those before 2013, compute BLAKE2b with the portable code instead of that for SSSE3 or
// SSE4.1. Every processor multiplies on Curve25519, which only a handshake does, with the portable code instead of that
// for AVX.
#if defined(__x86_64__)

__asm__(
    ".text\n"
    ".globl blake2b_compress_ssse3, blake2b_compress_sse41\n"
    ".type blake2b_compress_ssse3, @function\n"
    ".type blake2b_compress_sse41, @function\n"
    "blake2b_compress_ssse3: blake2b_compress_sse41: jmp blake2b_compress_ref");

// libsodium declares the type only within its sources: the multiplications of a point and of the base point. ferry uses
// the first for both.
struct Curve25519 {
  int (*multiply)(unsigned char* product, const unsigned char* number, const unsigned char* point);
  int (*multiply_base)(unsigned char* product, const unsigned char* number);
};

extern "C" {
extern const Curve25519 crypto_scalarmult_curve25519_ref10_implementation;
extern const Curve25519 crypto_scalarmult_curve25519_sandy2x_implementation;
}

namespace {

int multiply(unsigned char* product, const unsigned char* number, const unsigned char* point) {
  return crypto_scalarmult_curve25519_ref10_implementation.multiply(product, number, point);
}

int multiply_base(unsigned char* product, const unsigned char* number) {
  static constexpr unsigned char kBasePoint[32] = {9};
  return multiply(product, number, kBasePoint);
}

}  // namespace

const Curve25519 crypto_scalarmult_curve25519_sandy2x_implementation = {multiply, multiply_base};

#endif
