#include "crosscompile/codegen/source/instructions.h"

#include "crosscompile/codegen/source/expressions.h"
#include "crosscompile/codegen/source/statements.h"
#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/passes/tensorize/tensor_core.h"
#include "ferry/operators.h"

namespace ferry::codegen::source {
namespace {

constexpr std::string_view kSharedAddress = R"(uint32_t shared_address(const void* where) {
  return (uint32_t)__cvta_generic_to_shared(where);
}
)";

std::string with_address(FunctionState& state) {
  return state.unit.helpers.use("shared_address", std::string(kSharedAddress));
}

std::string address_text(FunctionState& state, const ir::Expr& address) {
  const ir::Load& element = *ir::addressed(address);
  return "&" + element_text(state, *element.buffer, element.indices.at(0));
}

// Copies of 16 bytes bypass the first-level cache; smaller copies can only be made through it.
std::string copy_function(FunctionState& state, std::int64_t bytes) {
  with_address(state);
  const std::string size = std::to_string(bytes);
  const std::string cache = bytes == 16 ? "cg" : "ca";
  return state.unit.helpers.use(
      "copy_async_" + size, "void copy_async_" + size + "(void* to, const void* from) {\n  asm volatile(\"cp.async." +
                                cache + ".shared.global [%0], [%1], " + size +
                                ";\" ::\"r\"(shared_address(to)), \"l\"(from) : \"memory\");\n}\n");
}

void print_copy(FunctionState& state, const ir::InstructionStmt& node) {
  const std::string function = copy_function(state, *ir::as_int(node.arguments[2]));
  state.line(function + "(" + address_text(state, node.arguments[0]) + ", " + address_text(state, node.arguments[1]) +
             ");");
}

// Returns "0, 1, 2": numbers or names, each between `before` and `after`.
std::string listed(const char* before, std::int64_t count, const char* after, std::int64_t first = 0) {
  std::string text;
  for (std::int64_t i = first; i < first + count; ++i)
    text += (i > first ? ", " : "") + std::string(before) + std::to_string(i) + after;
  return text;
}

// Loads two or four 8 x 8 matrices, transposed or not.
std::string ldmatrix_function(FunctionState& state, std::int64_t matrices, bool transposed) {
  with_address(state);
  const std::string count = std::to_string(matrices), name = "ldmatrix_x" + count + (transposed ? "_trans" : "");
  return state.unit.helpers.use(
      name, "void " + name + "(" + listed("uint32_t& r", matrices, "") +
                ", const void* row) {\n  asm volatile(\"ldmatrix.sync.aligned.m8n8.x" + count +
                (transposed ? ".trans" : "") + ".shared.b16 {" + listed("%", matrices, "") + "}, [%" + count +
                "];\"\n               : " + listed("\"=r\"(r", matrices, ")") +
                "\n               : \"r\"(shared_address(row))\n               : \"memory\");\n}\n");
}

std::string mma_function(FunctionState& state, DType type) {
  const std::string narrow(type == DType::bf16 ? "bf16" : "f16"), name = "mma_m16n8k16_" + narrow;
  return state.unit.helpers.use(
      name, "void " + name + "(" + listed("float& c", 4, "") +
                ", const uint32_t (&a)[4], const uint32_t (&b)[2]) {\n  asm(\"mma.sync.aligned.m16n8k16.row.col.f32." +
                narrow + "." + narrow + ".f32 {" + listed("%", 4, "") + "}, {" + listed("%", 4, "", 4) + "}, {" +
                listed("%", 2, "", 8) + "}, {" + listed("%", 4, "") + "};\"\n      : " + listed("\"+f\"(c", 4, ")") +
                "\n      : " + listed("\"r\"(a[", 4, "])") + ", " + listed("\"r\"(b[", 2, "])") + ");\n}\n");
}

std::string element(const std::string& array, std::int64_t i, std::int64_t j) {
  return array + "[" + std::to_string(i) + "][" + std::to_string(j) + "]";
}

void print_mma(FunctionState& state, const ir::InstructionStmt& node) {
  const passes::TensorCoreTile tile = passes::tile_of(node.arguments);
  const DType type = ir::addressed(tile.a[0])->buffer->dtype;
  const std::string mma = mma_function(state, type);
  state.line("{");
  ++state.indent;
  state.names.open();
  const std::string a = state.names.fresh("a"), b = state.names.fresh("b");
  state.line("uint32_t " + a + "[" + std::to_string(tile.rows) + "][4], " + b + "[" + std::to_string(tile.columns) +
             "][2];");
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    std::string registers;
    for (std::int64_t r = 0; r < 4; ++r) registers += element(a, i, r) + ", ";
    const std::string ldmatrix = ldmatrix_function(state, 4, tile.transpose_a);
    state.line(ldmatrix + "(" + registers + address_text(state, tile.a[static_cast<std::size_t>(i)]) + ");");
  }
  for (std::int64_t j = 0; j < tile.columns; j += 2) {
    const std::int64_t matrices = j + 1 < tile.columns ? 4 : 2;
    std::string registers;
    for (std::int64_t r = 0; r < matrices; ++r) registers += element(b, j + r / 2, r % 2) + ", ";
    const std::string ldmatrix = ldmatrix_function(state, matrices, tile.transpose_b);
    state.line(ldmatrix + "(" + registers + address_text(state, tile.b[static_cast<std::size_t>(j / 2)]) + ");");
  }
  std::size_t at = 0;
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    for (std::int64_t j = 0; j < tile.columns; ++j) {
      std::string sums;
      for (std::int64_t r = 0; r < 4; ++r) sums += address_text(state, tile.sums[at++]).substr(1) + ", ";
      state.line(mma + "(" + sums + a + "[" + std::to_string(i) + "], " + b + "[" + std::to_string(j) + "]);");
    }
  }
  state.names.close();
  --state.indent;
  state.line("}");
}

}  // namespace

void print_instruction(FunctionState& state, const ir::InstructionStmt& node) {
  if (node.arguments.empty() || state.unit.dialect.language != Language::cuda)
    return print_stmt(state, node.definition);
  switch (node.instruction) {
    case ir::Instruction::copy_async: return print_copy(state, node);
    case ir::Instruction::mma_m16n8k16: return print_mma(state, node);
    case ir::Instruction::tile_dot:
    case ir::Instruction::tile_sums: return print_stmt(state, node.definition);
  }
}

void print_copy_order(FunctionState& state, const ir::Evaluate& node) {
  if (state.unit.dialect.language != Language::cuda) return;  // each copy has completed already
  const auto left = ir::groups_left(node);
  const std::string what = left ? "wait_group " + std::to_string(*left) : "commit_group";
  state.line("asm volatile(\"cp.async." + what + ";\" ::: \"memory\");");
}

}  // namespace ferry::codegen::source
