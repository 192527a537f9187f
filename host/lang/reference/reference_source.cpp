#include "host/lang/reference/reference_source.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace ferry::lang {
namespace {

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class Convert>
void gather(std::size_t size, const std::byte* data, const std::uint64_t* positions, const std::int64_t* mask,
            std::size_t n, const Convert& convert) {
  for (std::size_t i = 0; i < n; ++i) {
    if (mask != nullptr && mask[i] == 0) {
      convert(i, nullptr);
    } else {
      convert(i, data + positions[i] * size);
    }
  }
}

template <class T>
void gather_integers(const std::byte* data, const std::uint64_t* positions, const std::int64_t* mask, std::size_t n,
                     Lanes& out) {
  gather(sizeof(T), data, positions, mask, n, [&](std::size_t i, const std::byte* from) {
    out.integer[i] = from == nullptr ? 0 : static_cast<std::int64_t>(read<T>(from));
  });
}

template <class T, class Widen>
void gather_reals(const std::byte* data, const std::uint64_t* positions, const std::int64_t* mask, std::size_t n,
                  Lanes& out, const Widen& widen) {
  gather(sizeof(T), data, positions, mask, n, [&](std::size_t i, const std::byte* from) {
    out.real[i] = from == nullptr ? 0 : static_cast<double>(widen(read<T>(from)));
  });
}

}  // namespace

void MemorySource::fetch(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) {
  std::array<std::uint64_t, kLanes> places{};
  if (!strides_.empty()) {
    spread(positions, n, places.data());
    positions = places.data();
  }
  load(positions, mask, n, out);
  if (!may_flush_) return;
  const double least = smallest_normal(type_);
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::fabs(out.real[i]);
    out.error[i] = size < least ? size : 0;
  }
}

void MemorySource::load(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) const {
  const auto same = [](auto value) { return value; };
  switch (type_) {
    case DType::f16: return gather_reals<std::uint16_t>(data_, positions, mask, n, out, f16_to_f32);
    case DType::bf16: return gather_reals<std::uint16_t>(data_, positions, mask, n, out, bf16_to_f32);
    case DType::f32: return gather_reals<float>(data_, positions, mask, n, out, same);
    case DType::f64: return gather_reals<double>(data_, positions, mask, n, out, same);
    case DType::i8: return gather_integers<std::int8_t>(data_, positions, mask, n, out);
    case DType::i16: return gather_integers<std::int16_t>(data_, positions, mask, n, out);
    case DType::i32: return gather_integers<std::int32_t>(data_, positions, mask, n, out);
    case DType::i64: return gather_integers<std::int64_t>(data_, positions, mask, n, out);
    case DType::u8: return gather_integers<std::uint8_t>(data_, positions, mask, n, out);
    case DType::u16: return gather_integers<std::uint16_t>(data_, positions, mask, n, out);
    case DType::u32: return gather_integers<std::uint32_t>(data_, positions, mask, n, out);
    case DType::u64: return gather_integers<std::uint64_t>(data_, positions, mask, n, out);
    case DType::boolean: return gather_integers<std::uint8_t>(data_, positions, mask, n, out);
  }
}

void MemorySource::spread(const std::uint64_t* positions, std::size_t n, std::uint64_t* places) const {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t rest = positions[i];
    for (std::size_t d = extents_.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(extents_[d], 1));
      places[i] += rest % extent * static_cast<std::uint64_t>(strides_[d]);
      rest /= extent;
    }
  }
}

void CallValues::bind(LaneProgram& program) const {
  program.use_intrinsics(context.get());
  if (bound == RoundingBound::exact) program.notice_exact_operations();
  for (const Value& value : values) {
    if (value.variable.type().is_float()) {
      program.bind_real(value.variable, value.real);
    } else {
      program.bind_integer(value.variable, value.integer);
    }
  }
}

CallValues values_of_call(const Program& program, std::span<const std::int64_t> symbols,
                          std::span<const void* const> arguments, RoundingBound bound) {
  CallValues call{{}, program.context, bound};
  const std::vector<Expr> names = symbols_of(program);
  if (symbols.size() != names.size() || arguments.size() != program.parameters.size()) {
    throw InternalError("reference: " + program.name + " has " + std::to_string(names.size()) + " sizes and " +
                        std::to_string(program.parameters.size()) + " parameters");
  }
  for (std::size_t i = 0; i < names.size(); ++i) call.values.push_back({names[i], symbols[i], 0});
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = program.parameters[i];
    if (parameter.kind != ParameterKind::scalar) continue;
    const Element value = load_element(parameter.scalar.type().code, arguments[i]);
    call.values.push_back({parameter.scalar, value.integer, value.real});
  }
  return call;
}

std::int64_t CallValues::evaluate(const Expr& expr) const {
  if (const std::int64_t* constant = ir::as_int(expr)) return *constant;
  for (const Value& value : values) {
    if (value.variable.same_as(expr)) return value.integer;
  }
  LaneProgram program("a size",
                      [](const ir::BufferRef&) -> ElementSource& { throw InternalError("a size reads no tensor"); });
  bind(program);
  const Lanes& result = program.add(expr);
  program.run(1);
  return result.integer[0];
}

void store_element(DType type, const Element& element, void* destination) {
  const auto put = [&](auto value) { std::memcpy(destination, &value, sizeof(value)); };
  switch (type) {
    case DType::f16: return put(f64_to_f16(element.real));
    case DType::bf16: return put(f64_to_bf16(element.real));
    case DType::f32: return put(static_cast<float>(element.real));
    case DType::f64: return put(element.real);
    case DType::i8:
    case DType::u8:
    case DType::boolean: return put(static_cast<std::uint8_t>(element.integer));
    case DType::i16:
    case DType::u16: return put(static_cast<std::uint16_t>(element.integer));
    case DType::i32:
    case DType::u32: return put(static_cast<std::uint32_t>(element.integer));
    case DType::i64:
    case DType::u64: return put(element.integer);
  }
}

Element load_element(DType type, const void* source) {
  Lanes one(type);
  const std::uint64_t first = 0;
  MemorySource(type, {1}, source).fetch(&first, nullptr, 1, one);
  return {one.real[0], one.integer[0], 0};
}

}  // namespace ferry::lang
