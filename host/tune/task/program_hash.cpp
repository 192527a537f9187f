#include "host/tune/task/program_hash.h"

#include "base/hash_stream.h"
#include "crosscompile/ir/visitor.h"
#include "host/lang/stage.h"

#include <bit>
#include <map>
#include <string_view>
#include <vector>

namespace ferry::tune {

namespace {

using namespace ir;

// Changes when the hashes of programs change without the programs.
constexpr std::string_view kFormat = "ferry task 1";

// Hashes expressions with numbers for variables and tensors, in the order in which they occur first. Lists are hashed
// with their lengths, and nodes with their kinds, so that different programs have different sequences.
class ProgramHasher : public Visitor {
 public:
  ProgramHasher() { text(kFormat); }

  void parameter(const lang::Parameter& parameter) {
    enumerator(parameter.kind);
    enumerator(parameter.direction);
    number(parameter.constant ? 1 : 0);
    expr(parameter.scalar);
    number(parameter.tensor.buffer() != nullptr ? 1 : 0);
    if (parameter.tensor.buffer() != nullptr) tensor(parameter.tensor);
    number(parameter.initial.buffer() != nullptr ? 1 : 0);
    if (parameter.initial.buffer() != nullptr) tensor(parameter.initial);
    exprs(parameter.strides);
  }

  void requirement(const Requirement& requirement) { expr(requirement.condition); }

  void tensor(const lang::Tensor& tensor) {
    const Buffer& buffer = *tensor.buffer();
    node(&buffer);
    enumerator(buffer.dtype);
    exprs(buffer.shape);
    exprs(buffer.strides);
    number(buffer.storage.above_minimum ? 1 : 0);
    number(buffer.component);
  }

  void stage(const lang::Stage& stage) {
    axes(stage.axes);
    exprs(stage.values);
    number(stage.checks.size());
    for (const lang::Tensor& check : stage.checks) node(check.buffer().get());
    number(stage.assertion.empty() ? 0 : 1);
    number(stage.external != nullptr ? 1 : 0);
    if (stage.external != nullptr) {
      text(stage.external->name);
      number(stage.external->arguments.size());
      for (const lang::ExternArgument& argument : stage.external->arguments) {
        node(argument.tensor.buffer().get());
        expr(argument.number);
      }
    }
    number(stage.sequence != nullptr ? 1 : 0);
    if (stage.sequence != nullptr) {
      number(stage.sequence->axis);
      node(stage.sequence->self.get());
      for (const bool crossed : stage.sequence->crossed) number(crossed ? 1 : 0);
      exprs(stage.sequence->place);
      node(stage.sequence->before.buffer().get());
    }
  }

  void expr(const Expr& expr) {
    number(expr.defined() ? 1 : 0);
    visit(expr);
  }

  void number(std::uint64_t value) {
    std::uint8_t bytes[sizeof value];
    for (std::size_t i = 0; i < sizeof value; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
    hash_.add(bytes);
  }

  Hash finish() { return hash_.finish(); }

 private:
  void text(std::string_view text) {
    number(text.size());
    hash_.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }
  void enumerator(auto value) { number(static_cast<std::uint64_t>(value)); }
  void type(const ExprNode& node) {
    enumerator(node.type.code);
    number(node.type.lanes);
  }
  // A variable or a tensor; null is one like any other.
  void node(const void* node) { number(numbers_.emplace(node, numbers_.size()).first->second); }
  void exprs(const std::vector<Expr>& list) {
    number(list.size());
    for (const Expr& one : list) expr(one);
  }
  void axes(const std::vector<Axis>& axes) {
    number(axes.size());
    for (const Axis& axis : axes)
      for (const Expr& part : {axis.var, axis.min, axis.extent}) expr(part);
  }
  template <class Node>
  void begin(const Node& node) {
    enumerator(Node::kKind);
    type(node);
  }

  void visit_node(const IntImm& node) override {
    begin(node);
    number(static_cast<std::uint64_t>(node.value));
  }
  void visit_node(const FloatImm& node) override {
    begin(node);
    number(std::bit_cast<std::uint64_t>(node.value));
  }
  void visit_node(const Var& var) override {
    begin(var);
    node(&var);
  }
  void visit_node(const Cast& node) override {
    begin(node);
    expr(node.value);
  }
  void visit_node(const Unary& node) override {
    begin(node);
    enumerator(node.op);
    expr(node.value);
  }
  void visit_node(const Binary& node) override {
    begin(node);
    enumerator(node.op);
    exprs({node.left, node.right});
  }
  void visit_node(const Select& node) override {
    begin(node);
    exprs({node.condition, node.on_true, node.on_false});
  }
  void visit_node(const IfThenElse& node) override {
    begin(node);
    exprs({node.condition, node.on_true, node.on_false});
  }
  void visit_node(const Load& load) override {
    begin(load);
    node(load.buffer.get());
    exprs(load.indices);
    expr(load.mask);
  }
  void visit_node(const Call& node) override {
    begin(node);
    enumerator(node.callee.op);
    if (node.callee.op == CallOp::math) enumerator(node.callee.math);
    text(node.callee.name);
    exprs(node.arguments);
  }
  void visit_node(const Reduce& node) override {
    begin(node);
    enumerator(node.reducer->op);
    if (node.reducer->op == ReduceOp::user)
      for (const auto* part :
           {&node.reducer->left, &node.reducer->right, &node.reducer->combine, &node.reducer->identity})
        exprs(*part);
    axes(node.axes);
    exprs(node.sources);
    expr(node.condition);
    exprs(node.init);
    number(node.component);
  }
  void visit_node(const Let& node) override {
    begin(node);
    exprs({node.var, node.value, node.body});
  }
  void visit_node(const Ramp& node) override {
    begin(node);
    exprs({node.base, node.stride});
  }
  void visit_node(const Broadcast& node) override {
    begin(node);
    expr(node.value);
  }
  void visit_node(const VectorReduce& node) override {
    begin(node);
    enumerator(node.op);
    expr(node.value);
  }
  using Visitor::visit_node;

  HashStream hash_;
  std::map<const void*, std::uint64_t> numbers_;
};

}  // namespace

Hash program_hash(const lang::Program& program, const std::map<std::string, std::int64_t>& sizes) {
  ProgramHasher hasher;
  hasher.number(program.parameters.size());
  for (const lang::Parameter& parameter : program.parameters) hasher.parameter(parameter);
  hasher.number(program.requirements.size());
  for (const Requirement& requirement : program.requirements) hasher.requirement(requirement);
  const std::vector<lang::Tensor> tensors = lang::computed_tensors(program);
  hasher.number(tensors.size());
  for (const lang::Tensor& tensor : tensors) {
    hasher.tensor(tensor);
    hasher.stage(*tensor.stage());
  }
  const std::vector<Expr> symbols = lang::symbols_of(program);
  hasher.number(symbols.size());
  for (const Expr& symbol : symbols) {
    hasher.expr(symbol);
    const auto size = sizes.find(symbol.as<Var>()->name);
    hasher.number(size == sizes.end() ? 0 : 1);
    if (size != sizes.end()) hasher.number(static_cast<std::uint64_t>(size->second));
  }
  return hasher.finish();
}

Hash schedule_hash(const ScheduleText& schedule) {
  HashStream hash;
  hash.add({reinterpret_cast<const std::uint8_t*>(schedule.text.data()), schedule.text.size()});
  return hash.finish();
}

}  // namespace ferry::tune
