// Written by scripts/fit_polynomials.py, which says how; do not edit. Coefficients stand from the lowest power up.
#pragma once

#include <cstdint>

namespace ferry::passes::math {

// (exp(r) - 1 - r) / r^2 on +-ln(2)/2, relative to expm1, error 2^-25.8
inline constexpr double kExp[] = {0x1.fffffep-2, 0x1.5554aep-3, 0x1.555676p-5, 0x1.122884p-7, 0x1.6bebeep-10};

// (2^r - 1) / r on +-1/2, relative to 2^r, error 2^-25.9
inline constexpr double kExp2[] = {0x1.62e43p-1,  0x1.ebfbdcp-3,  0x1.c6aee6p-5,
                                   0x1.3b2d52p-7, 0x1.5f400ep-10, 0x1.41faa6p-13};

// (ln(1+f) - f + f^2/2) / f^3 for 1+f from sqrt(1/2) to sqrt(2), relative to ln(1+f), error 2^-28.2
inline constexpr double kLog[] = {0x1.555548p-2,  -0x1.000006p-2, 0x1.99a4b6p-3,  -0x1.555c4ep-3, 0x1.23375ep-3,
                                  -0x1.fc21e4p-4, 0x1.e6f0eep-4,  -0x1.de3d68p-4, 0x1.14583ep-4};

// log2(1+f) / f for 1+f from sqrt(1/2) to sqrt(2), relative to it, error 2^-25.6
inline constexpr double kLog2[] = {0x1.715476p+0,  -0x1.71547p-1, 0x1.ec7096p-2,  -0x1.715a76p-2, 0x1.277e38p-2,
                                   -0x1.eabc7cp-3, 0x1.a30578p-3, -0x1.874c28p-3, 0x1.7d4a9cp-3,  -0x1.c25c74p-4};

// (sin(r)/r - 1) / z for z = r^2 up to (pi/4 + 0.005)^2, relative to sin, error 2^-28.0
inline constexpr double kSin[] = {-0x1.555556p-3, 0x1.111108p-7, -0x1.a00f32p-13, 0x1.6cbfd2p-19};

// (cos(r) - 1 + z/2) / z^2 for z = r^2 up to (pi/4 + 0.005)^2, relative to cos, error 2^-30.7
inline constexpr double kCos[] = {0x1.55554ap-5, -0x1.6c0be6p-10, 0x1.99d52ep-16};

// (asin(s)/s - 1) / z for z = s^2 up to 1/4, relative to asin, error 2^-30.2
inline constexpr double kAsin[] = {0x1.55554cp-3, 0x1.33388p-4,  0x1.6cae5p-5,
                                   0x1.04963p-5,  0x1.d8d692p-7, 0x1.3370bep-5};

// (atan(t)/t - 1) / z for z = t^2 up to 1, relative to atan, error 2^-27.2
inline constexpr double kAtan[] = {-0x1.55553ep-2, 0x1.9991fcp-3,  -0x1.2421b4p-3, 0x1.c099eep-4,  -0x1.583466p-4,
                                   0x1.dac964p-5,  -0x1.fed07cp-6, 0x1.65a58p-7,   -0x1.d62e8ep-10};

// (sinh(x)/x - 1) / z for z = x^2 up to 1, relative to sinh, error 2^-27.5
inline constexpr double kSinh[] = {0x1.555556p-3, 0x1.111134p-7, 0x1.9ffe92p-13, 0x1.7a15b2p-19};

// erf(x)/x - 1 for z = x^2 and |x| up to 0.922, relative to erf, error 2^-26.7
inline constexpr double kErf[] = {0x1.06eba8p-3, -0x1.812744p-2,  0x1.ce2e2p-4,  -0x1.b81074p-6,
                                  0x1.54da8ep-8, -0x1.aae6ecp-11, 0x1.5f0874p-14};

// ln(1 - erf(a)) for a from 0.92 to 4, error relative to erf, error 2^-26.9
inline constexpr double kErfTail[] = {0x1.506572p-13, -0x1.212298p+0, -0x1.445fcep-1,  -0x1.ba6acp-4,  0x1.97e216p-6,
                                      -0x1.09a58ep-8, 0x1.9ff5a2p-12, -0x1.e01a88p-17, -0x1.185098p-21};

// erf(x)/x for s = kErfScale x^2 - 1 and |x| up to kErfLimit, relative to erf, error 2^-24.6
inline constexpr double kErfFused[] = {0x1.781982p-2,  -0x1.7766bcp-3,  0x1.16f6f6p-3,  -0x1.c42648p-4,
                                       0x1.73de8cp-4,  -0x1.2ba54ap-4,  0x1.cfc282p-5,  -0x1.51b81p-5,
                                       0x1.c59264p-6,  -0x1.27ae08p-6,  0x1.8cc74cp-7,  -0x1.a41ffap-8,
                                       0x1.e047f8p-10, -0x1.3830fap-10, 0x1.92fcccp-10, -0x1.3acebap-11};

inline constexpr double kErfLimit = 0x1.ecccccp+1, kErfScale = 0x1.14562ep-3;

// log2((1+s)/(1-s)) / s for z = s^2 and (1+s)/(1-s) from sqrt(1/2) to sqrt(2), relative to it, error 2^-37.8
inline constexpr double kPowLog2[] = {0x1.71547652beep+1, 0x1.ec709d12bea24p-1, 0x1.27777ff5eef31p-1,
                                      0x1.a58d8204991eep-2, 0x1.5ce8da4006cb2p-2};

// ln(2), in parts of 15, 24 bits; off by 2^-44.0
inline constexpr double kLn2[] = {0x1.62e4p-1, 0x1.7f7d1cp-20};

// pi/2 for targets with fma, in parts of 24, 24, 24 bits; off by 2^-76.3
inline constexpr double kHalfPiFused[] = {0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50};

// pi/2 for targets without, in parts of 11, 11, 11, 24 bits; off by 2^-63.4
inline constexpr double kHalfPi[] = {0x1.92p+0, 0x1.fb4p-12, 0x1.444p-24, 0x1.68c234p-39};

// 2/pi
inline constexpr std::uint32_t kTwoOverPi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                               0xdb629599, 0x3c439041, 0xfe5163ab};

}  // namespace ferry::passes::math
