#include "crosscompile/ir/c_type_name.h"

#include "crosscompile/ir/error.h"

namespace ferry::ir {

const char* c_type_name(DType type) {
  switch (type) {
    case DType::f16: return "_Float16";
    case DType::bf16: return "__bf16";
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::i8: return "int8_t";
    case DType::i16: return "int16_t";
    case DType::i32: return "int32_t";
    case DType::i64: return "int64_t";
    case DType::u8: return "uint8_t";
    case DType::u16: return "uint16_t";
    case DType::u32: return "uint32_t";
    case DType::u64: return "uint64_t";
    case DType::boolean: return "bool";
  }
  throw InternalError("c_type_name: unknown type");
}

}  // namespace ferry::ir
