#include "tests/unit/crosscompile/passes/kernel.h"

#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/validator.h"
#include "crosscompile/ir/visitor.h"
#include "tests/paths.h"
#include "tests/support/seeded.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_map>

namespace ferry::passes {

using namespace ir;

Target target_with(std::string arch, std::vector<std::string> features) {
  Target target;
  target.set_arch(std::move(arch));
  target.features = std::move(features);
  std::sort(target.features.begin(), target.features.end());
  target.capabilities = capabilities_of(target);
  return target;
}

Target plain_target() { return target_with("x86_64", {}); }

Target masked_target() {
  Target target = target_with("x86_64", {"avx512f", "f16c"});
  target.vector_bits = 512;
  target.capabilities.masks = true;
  return target;
}

Kernel::Kernel() { function.name = "kernel"; }

Expr Kernel::size(const std::string& name) {
  function.symbols.push_back(Var::make(name));
  return function.symbols.back();
}

BufferRef Kernel::input(const std::string& name, DType dtype, std::vector<Expr> shape) {
  return output(name, dtype, std::move(shape), Direction::in);
}

BufferRef Kernel::output(const std::string& name, DType dtype, std::vector<Expr> shape, Direction direction) {
  BufferRef buffer = array(name, dtype, std::move(shape), Scope::parameter);
  function.parameters.push_back({name, ParameterKind::tensor, direction, buffer, {}});
  return buffer;
}

BufferRef array(const std::string& name, DType dtype, std::vector<Expr> shape, Scope scope) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = name;
  buffer->dtype = dtype;
  buffer->shape = std::move(shape);
  buffer->scope = scope;
  return buffer;
}

Expr index(const std::string& name) { return Var::make(name); }
Expr at(const BufferRef& buffer, std::vector<Expr> indices) { return Load::make(buffer, std::move(indices)); }
Stmt put(const BufferRef& buffer, std::vector<Expr> indices, Expr value) {
  return Store::make(buffer, std::move(indices), std::move(value));
}
Stmt loop(const Expr& var, Expr extent, Stmt body, ForKind kind) {
  return For::make(var, 0, std::move(extent), kind, std::move(body));
}
Stmt block(std::vector<Stmt> body) { return Block::make(std::move(body)); }

namespace {

std::int64_t evaluate(const Expr& expr, const std::unordered_map<const ExprNode*, std::int64_t>& values) {
  if (const auto* constant = expr.as<IntImm>()) return constant->value;
  if (expr.as<Var>() != nullptr) return values.at(expr.get());
  const auto* binary = expr.as<Binary>();
  REQUIRE(binary != nullptr);
  const std::int64_t left = evaluate(binary->left, values);
  const std::int64_t right = evaluate(binary->right, values);
  if (binary->op == BinaryOp::add) return left + right;
  if (binary->op == BinaryOp::sub) return left - right;
  REQUIRE(binary->op == BinaryOp::mul);
  return left * right;
}

// Fills with whole numbers from -4 to 4 in any type.
void fill(DType dtype, std::vector<std::uint8_t>& bytes, std::uint32_t seed) {
  const std::size_t size = dtype_bytes(dtype);
  test::Seeded seeded(seed);
  for (std::size_t i = 0; i * size < bytes.size(); ++i) {
    const int number = static_cast<int>(seeded.draw() % 9) - 4;
    const auto set = [&](auto value) { std::memcpy(bytes.data() + i * size, &value, size); };
    switch (dtype) {
      case DType::f16: set(f32_to_f16(static_cast<float>(number))); break;
      case DType::bf16: set(f32_to_bf16(static_cast<float>(number))); break;
      case DType::f32: set(static_cast<float>(number)); break;
      case DType::f64: set(static_cast<double>(number)); break;
      case DType::boolean: set(static_cast<std::uint8_t>(number > 0)); break;
      case DType::i8:
      case DType::u8: set(static_cast<std::uint8_t>(number)); break;
      case DType::i16:
      case DType::u16: set(static_cast<std::uint16_t>(number)); break;
      case DType::i32:
      case DType::u32: set(static_cast<std::uint32_t>(number)); break;
      case DType::i64:
      case DType::u64: set(static_cast<std::uint64_t>(number)); break;
    }
  }
}

std::string describe(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text;
}

}  // namespace

std::vector<std::vector<std::uint8_t>> run(const Function& function, const std::vector<std::int64_t>& sizes) {
  std::unordered_map<const ExprNode*, std::int64_t> values;
  for (std::size_t i = 0; i < sizes.size(); ++i) values[function.symbols[i].get()] = sizes[i];
  std::vector<std::vector<std::uint8_t>> tensors;
  std::vector<void*> arguments;
  std::uint32_t seed = 1;
  for (const FunctionParameter& parameter : function.parameters) {
    std::size_t bytes = dtype_bytes(parameter.buffer->dtype);
    for (const Expr& extent : parameter.buffer->shape) bytes *= static_cast<std::size_t>(evaluate(extent, values));
    tensors.emplace_back(bytes, std::uint8_t{0xcd});
    if (parameter.direction != Direction::out) fill(parameter.buffer->dtype, tensors.back(), seed++);
  }
  for (std::vector<std::uint8_t>& tensor : tensors) arguments.push_back(tensor.data());
  std::vector<std::int64_t> mutable_sizes = sizes;
  for (std::int64_t& size : mutable_sizes) arguments.push_back(&size);
  const std::int32_t result = interpret(function, arguments.data());
  std::vector<std::vector<std::uint8_t>> written;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (function.parameters[i].direction != Direction::in) written.push_back(std::move(tensors[i]));
  }
  written.push_back({static_cast<std::uint8_t>(result)});
  return written;
}

void check_same(const Function& before, const Function& after, const std::vector<std::int64_t>& sizes) {
  std::string problem;
  try {
    validate(after, "the pass");
    const auto expected = run(before, sizes);
    try {
      if (run(after, sizes) != expected) problem = "another result";
    } catch (const InterpreterError& error) {
      problem = error.what();
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (problem.empty()) return;
  FAIL_CHECK("for sizes ", describe(sizes), ": ", problem, "\nbefore\n", to_text(before), "\nafter\n", to_text(after));
}

void check_same_on_odd_sizes(const Function& before, const Function& after) {
  std::vector<std::size_t> digits(before.symbols.size(), 0);
  for (;;) {
    std::vector<std::int64_t> sizes;
    for (const std::size_t digit : digits) sizes.push_back(kOddSizes[digit]);
    check_same(before, after, sizes);
    std::size_t d = 0;
    while (d < digits.size() && ++digits[d] == kOddSizes.size()) digits[d++] = 0;
    if (d == digits.size()) return;
  }
}

namespace {

class Counter : public Visitor {
 public:
  Census census;

 protected:
  using Visitor::visit_node;
  void visit_node(const If& node) override {
    ++census.ifs;
    Visitor::visit_node(node);
  }
  void visit_node(const For& node) override {
    ++census.loops;
    census.vectorized += node.for_kind == ForKind::vectorized;
    census.unrolled += node.for_kind == ForKind::unrolled;
    census.parallel += node.for_kind == ForKind::parallel;
    Visitor::visit_node(node);
  }
  void visit_node(const Allocate& node) override {
    ++census.allocations;
    Visitor::visit_node(node);
  }
  void visit_node(const Store& node) override {
    ++census.stores;
    census.vector_stores += node.value.type().is_vector();
    census.masked_stores += node.mask.defined();
    Visitor::visit_node(node);
  }
  void visit_node(const Load& node) override {
    census.vector_loads += node.type.is_vector();
    census.masked_loads += node.mask.defined();
    Visitor::visit_node(node);
  }
  void visit_node(const VectorReduce& node) override {
    ++census.vector_reductions;
    Visitor::visit_node(node);
  }
  void visit_node(const IfThenElse& node) override {
    ++census.choices;
    Visitor::visit_node(node);
  }
  void visit_node(const Select& node) override {
    ++census.choices;
    Visitor::visit_node(node);
  }
};

class InnermostFinder : public Visitor {
 public:
  std::vector<Stmt> found;

 protected:
  using Visitor::visit_node;
  void visit_node(const For& node) override {
    const std::size_t before = found.size();
    Visitor::visit_node(node);
    if (found.size() == before) found.push_back(For::make(node.var, node.min, node.extent, node.for_kind, node.body));
  }
};

}  // namespace

Census census(const Stmt& stmt) {
  Counter counter;
  counter.visit(stmt);
  return counter.census;
}

std::vector<Stmt> innermost_loops(const Stmt& stmt) {
  InnermostFinder finder;
  finder.visit(stmt);
  return finder.found;
}

void check_golden(const std::string& name, const Function& function) {
  const std::filesystem::path path = std::filesystem::path(FERRY_SOURCE_DIR) / "tests/golden/passes" / (name + ".txt");
  const std::string text = to_text(function);
  if (std::getenv("FERRY_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  CHECK_MESSAGE(expected.str() == text, "expected ", path.string(), " (FERRY_UPDATE_GOLDEN=1 rewrites it), got\n",
                text);
}

}  // namespace ferry::passes
