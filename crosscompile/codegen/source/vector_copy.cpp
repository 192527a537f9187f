#include "crosscompile/codegen/source/vector_copy.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/codegen/source/expressions.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/alignment.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

namespace ferry::codegen::source {
namespace {

constexpr const char* kLanes[] = {"x", "y", "z", "w"};

// Returns a type such as "float4"; empty when there is none.
std::string vector_type(DType type, std::int64_t lanes) {
  if (lanes != 2 && lanes != 4) return "";
  const std::string count = std::to_string(lanes);
  if (type == DType::f32) return "float" + count;
  if (type == DType::i32) return "int" + count;
  if (type == DType::u32) return "uint" + count;
  return "";
}

// Returns a type for copying this many bytes, whatever the elements are.
std::string copy_type(DType type, std::int64_t lanes) {
  if (std::string own = vector_type(type, lanes); !own.empty()) return own;
  switch (static_cast<std::int64_t>(dtype_bytes(type)) * lanes) {
    case 4: return "uint32_t";
    case 8: return "uint2";
    case 16: return "uint4";
    default: return "";
  }
}

std::string space_of(const FunctionState& state, const ir::Buffer& buffer) {
  return std::string(buffer.scope == ir::Scope::shared ? state.unit.dialect.shared_pointer : state.unit.dialect.global);
}

std::string place(FunctionState& state, const ir::Buffer& buffer, const ir::Expr& begin, const std::string& type,
                  bool is_read) {
  return "*(" + std::string(is_read ? "const " : "") + space_of(state, buffer) + type + "*)&" +
         element_text(state, buffer, begin);
}

// Returns whether the store reads what it writes: all lanes are read before the first is written.
bool is_disturbed(const ir::Store& store) {
  bool found = false;
  analysis::for_each_load(store.value, [&](const ir::Load& load) {
    found = found || (load.buffer == store.buffer && !ir::equal(load.indices.at(0), store.indices.at(0)));
  });
  return found;
}

std::string lane_value(FunctionState& state, const ir::Expr& value, const ir::For& loop, std::int64_t lane) {
  const ir::Expr one = ir::substitute(value, ir::Substitution{{loop.var.get(), ir::Expr(lane)}});
  return print(state, passes::simplify(one));
}

bool print_load(FunctionState& state, const ir::For& loop, const ir::Store& store, const ir::Load& load,
                std::int64_t lanes) {
  const std::string type = vector_type(store.buffer->dtype, lanes);
  const auto from = passes::aligned_begin(load.indices.at(0), loop.var, lanes);
  if (type.empty() || !from || load.buffer->scope == ir::Scope::local) return false;
  const std::string name = state.names.fresh(state.names.of(*store.buffer) + "_lanes");
  state.line("const " + type + " " + name + " = " + place(state, *load.buffer, *from, type, true) + ";");
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const ir::Expr at = ir::substitute(store.indices.at(0), ir::Substitution{{loop.var.get(), ir::Expr(lane)}});
    state.line(element_text(state, *store.buffer, passes::simplify(at)) + " = " + name + "." + kLanes[lane] + ";");
  }
  return true;
}

}  // namespace

bool print_vector_copy(FunctionState& state, const ir::For& loop) {
  const std::int64_t* lanes = ir::as_int(loop.extent);
  const auto* store = loop.body.as<ir::Store>();
  if (!state.on_gpu() || loop.for_kind != ir::ForKind::vectorized || lanes == nullptr || store == nullptr) return false;
  if (!ir::is_constant(loop.min, 0) || store->mask.defined() || is_disturbed(*store)) return false;
  const auto* load = store->value.as<ir::Load>();
  const bool is_copy = load != nullptr && !load->mask.defined();
  if (store->buffer->scope == ir::Scope::local) return is_copy && print_load(state, loop, *store, *load, *lanes);
  const auto to = passes::aligned_begin(store->indices.at(0), loop.var, *lanes);
  if (!to) return false;
  if (is_copy && load->buffer->scope != ir::Scope::local) {
    const std::string type = copy_type(store->buffer->dtype, *lanes);
    const auto from = passes::aligned_begin(load->indices.at(0), loop.var, *lanes);
    if (!type.empty() && from) {
      const std::string value = place(state, *load->buffer, *from, type, true);
      state.line(place(state, *store->buffer, *to, type, false) + " = " + value + ";");
      return true;
    }
  }
  const std::string type = vector_type(store->buffer->dtype, *lanes);
  if (type.empty()) return false;
  std::string values;
  for (std::int64_t lane = 0; lane < *lanes; ++lane)
    values += (lane > 0 ? ", " : "") + lane_value(state, store->value, loop, lane);
  const std::string made = state.unit.dialect.language == Language::opencl ? "(" + type + ")" : "make_" + type;
  state.line(place(state, *store->buffer, *to, type, false) + " = " + made + "(" + values + ");");
  return true;
}

}  // namespace ferry::codegen::source
