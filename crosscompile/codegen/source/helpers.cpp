#include "crosscompile/codegen/source/helpers.h"

#include "crosscompile/codegen/source/helper_text.h"
#include "crosscompile/ir/error.h"

#include <algorithm>
#include <iterator>

namespace ferry::codegen::source {
namespace {

constexpr Helper kHelpers[] = {Helper::floor_div, Helper::floor_mod,  Helper::shift_left, Helper::shift_right,
                               Helper::min,       Helper::max,        Helper::abs,        Helper::popcount,
                               Helper::clz,       Helper::sigmoid,    Helper::bits,       Helper::from_bits,
                               Helper::to_single, Helper::from_single};
constexpr DType kTypes[] = {
#define FERRY_TYPE(tag, name, text, bytes, storage) DType::name,
    FERRY_DTYPES(FERRY_TYPE)
#undef FERRY_TYPE
};

std::string_view name_pattern(Helper helper) {
  switch (helper) {
    case Helper::floor_div: return "floor_div_$N";
    case Helper::floor_mod: return "floor_mod_$N";
    case Helper::shift_left: return "shift_left_$N";
    case Helper::shift_right: return "shift_right_$N";
    case Helper::min: return "min_$N";
    case Helper::max: return "max_$N";
    case Helper::abs: return "abs_$N";
    case Helper::popcount: return "popcount_$N";
    case Helper::clz: return "clz_$N";
    case Helper::sigmoid: return "sigmoid_$N";
    case Helper::bits: return "$N_bits";
    case Helper::from_bits: return "$N_from_bits";
    case Helper::to_single: return "$N_to_f32";
    case Helper::from_single: return "f32_to_$N";
  }
  throw InternalError("name_pattern: unknown helper");
}

std::string saturating_name(DType from, DType to) { return std::string(dtype_name(from)) + "_to_" + dtype_name(to); }

}  // namespace

bool is_helper(std::string_view name) {
  constexpr std::string_view kInstructions[] = {"copy_async_", "ldmatrix_", "mma_"};
  if (std::any_of(std::begin(kInstructions), std::end(kInstructions),
                  [&](std::string_view prefix) { return name.starts_with(prefix); }))
    return true;
  // Every helper's name begins or ends with the name of a type.
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](DType type) {
    if (name.find(dtype_name(type)) == std::string_view::npos) return false;
    return std::any_of(std::begin(kHelpers), std::end(kHelpers),
                       [&](Helper helper) { return name == filled(name_pattern(helper), type); }) ||
           name == saturating_name(DType::f32, type) || name == saturating_name(DType::f64, type);
  });
}

void Helpers::define(const std::string& name, const std::string& definition) {
  names_.insert(name);
  text_ += std::string(dialect_.helper) + definition + "\n";
}

std::string Helpers::use(Helper helper, DType type) {
  const std::string name = filled(name_pattern(helper), type);
  if (names_.contains(name)) return name;
  for (const Helper inside : helpers_inside(helper, type)) use(inside, DType::f32);
  define(name, helper_text(helper, type, dialect_));
  return name;
}

std::string Helpers::use(const std::string& name, const std::string& definition) {
  if (!names_.contains(name)) define(name, definition);
  return name;
}

std::string Helpers::use_saturating(DType from, DType to) {
  const std::string name = saturating_name(from, to);
  if (!names_.contains(name)) define(name, saturating_text(from, to, dialect_));
  return name;
}

}  // namespace ferry::codegen::source
