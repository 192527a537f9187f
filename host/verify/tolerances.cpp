#include "host/verify/tolerances.h"

namespace ferry::verify {

Tolerances default_tolerances(DType dtype) {
  switch (dtype) {
    case DType::f16: return {1e-3, 1e-4, 4e-3};
    case DType::bf16: return {8e-3, 1e-3, 3e-2};
    case DType::f32: return {1e-6, 1e-7, 1e-4};
    case DType::f64: return {1e-14, 1e-15, 1e-10};
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
    case DType::boolean: return {};
  }
  return {};
}

}  // namespace ferry::verify
