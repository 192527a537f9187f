// Values of the running interpreter: the bits that memory would hold, so that moving a value never changes it.
#pragma once

#include "crosscompile/ir/error.h"
#include "ferry/types.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ferry::ir::interp {

struct Value {
  std::uint64_t bits = 0;

  template <class T>
  T as() const {
    T result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
  }
  template <class T>
  static Value of(T value) {
    Value result;
    std::memcpy(&result.bits, &value, sizeof value);
    return result;
  }
};

template <DType D>
struct Storage;
#define FERRY_STORAGE(tag, name, text, bytes, storage) \
  template <>                                          \
  struct Storage<DType::name> {                        \
    using Type = storage;                              \
  };
FERRY_DTYPES(FERRY_STORAGE)
#undef FERRY_STORAGE

// The type in which an element type computes: its own C++ type, but float for the narrow floats.
template <DType D>
struct Element {
  using Compute = typename Storage<D>::Type;
  static Compute get(Value value) { return value.as<Compute>(); }
  static Value put(Compute value) { return Value::of<Compute>(value); }
};

template <>
struct Element<DType::f16> {
  using Compute = float;
  static float get(Value value) { return f16_to_f32(value.as<std::uint16_t>()); }
  static Value put(float value) { return Value::of(f32_to_f16(value)); }
};

template <>
struct Element<DType::bf16> {
  using Compute = float;
  static float get(Value value) { return bf16_to_f32(value.as<std::uint16_t>()); }
  static Value put(float value) { return Value::of(f32_to_bf16(value)); }
};

template <>
struct Element<DType::boolean> {
  using Compute = bool;
  static bool get(Value value) { return value.as<std::uint8_t>() != 0; }
  static Value put(bool value) { return Value::of<std::uint8_t>(value ? 1 : 0); }
};

inline std::int64_t index_of(Value value) { return value.as<std::int64_t>(); }
inline bool is_true(Value value) { return Element<DType::boolean>::get(value); }

// Calls f with the type as a compile-time constant.
template <class F>
auto with_dtype(DType type, F&& f) {
  switch (type) {
#define FERRY_CASE(tag, name, text, bytes, storage) \
  case DType::name: return f(std::integral_constant<DType, DType::name>{});
    FERRY_DTYPES(FERRY_CASE)
#undef FERRY_CASE
  }
  throw InternalError("interpreter: unknown element type");
}

}  // namespace ferry::ir::interp
