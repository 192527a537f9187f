#include "crosscompile/foreign/cuda_headers.h"

namespace ferry::foreign {
namespace {

constexpr const char* kIntegers = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807L - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX UINT64_MAX
namespace std {
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::intptr_t;
using ::uintptr_t;
}
)";

constexpr const char* kLimits = R"(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
)";

constexpr const char* kFloats = R"(#pragma once
#define FLT_MANT_DIG 24
#define FLT_EPSILON 1.1920928955078125e-07F
#define FLT_MIN 1.17549435082228750797e-38F
#define FLT_MAX 3.40282346638528859812e+38F
#define DBL_MANT_DIG 53
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
)";

constexpr const char* kMath = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
)";

constexpr const char* kNothing = "#pragma once\n";

}  // namespace

const std::vector<codegen::cuda::CudaHeader>& cuda_headers() {
  static const std::vector<codegen::cuda::CudaHeader> headers = {{"stdint.h", kIntegers},
                                                                 {"cstdint", kIntegers},
                                                                 {"limits.h", kLimits},
                                                                 {"climits", kLimits},
                                                                 {"float.h", kFloats},
                                                                 {"cfloat", kFloats},
                                                                 {"math.h", kMath},
                                                                 {"cmath", kMath},
                                                                 {"stddef.h", kNothing},
                                                                 {"cstddef", kNothing},
                                                                 {"string.h", kNothing},
                                                                 {"cstring", kNothing},
                                                                 {"cuda_runtime.h", kNothing},
                                                                 {"cuda.h", kNothing},
                                                                 {"device_launch_parameters.h", kNothing},
                                                                 {"device_functions.h", kNothing}};
  return headers;
}

}  // namespace ferry::foreign
