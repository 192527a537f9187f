#include "host/lower/constant_stages.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"

#include <algorithm>
#include <unordered_set>

namespace ferry::lower {

using namespace ir;

namespace {

using Buffers = std::unordered_set<const Buffer*>;

// Views are excluded: their strides are arguments of the call.
bool is_constant(const FunctionParameter& parameter) { return parameter.constant && parameter.buffer->strides.empty(); }

// The buffers that a statement reads and writes, except those it allocates, and whether it has any other side effect.
class Accesses : public Visitor {
 public:
  explicit Accesses(const Stmt& stmt) { visit(stmt); }
  Buffers reads, writes;
  bool is_only_memory = true;

  std::vector<const Buffer*> all() const {
    std::vector<const Buffer*> both(reads.begin(), reads.end());
    both.insert(both.end(), writes.begin(), writes.end());
    return both;
  }

 protected:
  void visit_node(const Load& node) override {
    if (!own_.contains(node.buffer.get())) reads.insert(node.buffer.get());
    Visitor::visit_node(node);
  }
  void visit_node(const Store& node) override {
    if (!own_.contains(node.buffer.get())) writes.insert(node.buffer.get());
    Visitor::visit_node(node);
  }
  void visit_node(const Allocate& node) override {
    own_.insert(node.buffer.get());
    Visitor::visit_node(node);
  }
  void visit_node(const Assert& node) override {
    is_only_memory = false;
    Visitor::visit_node(node);
  }
  // C functions may have any side effect.
  void visit_node(const Evaluate&) override { is_only_memory = false; }
  using Visitor::visit_node;

 private:
  Buffers own_;
};

class Split {
 public:
  explicit Split(Function function) : function_(std::move(function)) {
    Stmt rest = function_.body;
    for (const Allocate* allocate = rest.as<Allocate>(); allocate != nullptr; allocate = rest.as<Allocate>()) {
      allocated_.push_back(allocate->buffer);
      rest = allocate->body;
    }
    if (const Block* block = rest.as<Block>())
      steps_ = block->body;
    else if (rest.defined())
      steps_ = {rest};
    for (const Stmt& step : steps_) accesses_.emplace_back(step);
    for (const FunctionParameter& parameter : function_.parameters)
      if (is_constant(parameter)) constants_.insert(parameter.buffer.get());
    find_sizes();
    for (FunctionParameter& parameter : function_.parameters)
      parameter.constant = constants_.contains(parameter.buffer.get());
  }

  std::vector<Function> run() {
    std::vector<Stmt> init_steps, call_steps;
    Buffers made, read;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (is_constant_step(i, made)) {
        made.insert(accesses_[i].writes.begin(), accesses_[i].writes.end());
        for (const Buffer* buffer : accesses_[i].reads) reads_constants_ |= constants_.contains(buffer);
        init_steps.push_back(steps_[i]);
      } else {
        read.insert(accesses_[i].reads.begin(), accesses_[i].reads.end());
        call_steps.push_back(steps_[i]);
      }
    }
    if (!reads_constants_) return {function_};
    std::vector<BufferRef> kept;  // buffers made from constants that the calls read
    for (const BufferRef& buffer : allocated_)
      if (made.contains(buffer.get()) && read.contains(buffer.get())) kept.push_back(buffer);
    if (kept.empty()) return {function_};

    BufferSubstitution parameters;
    for (const BufferRef& buffer : kept) {
      Buffer parameter = *buffer;
      parameter.scope = Scope::parameter;
      parameters[buffer.get()] = std::make_shared<Buffer>(std::move(parameter));
    }
    return {call_of(std::move(call_steps), kept, made, parameters),
            init_of(std::move(init_steps), kept, made, parameters)};
  }

 private:
  // Finds the sizes that the shapes of constants determine, and drops constants whose shapes depend on other tensors.
  void find_sizes() {
    std::size_t known = 0;
    do {
      known = constants_.size();
      sizes_.clear();
      for (const Buffer* constant : constants_)
        for (const Expr& size : constant->shape) sizes_.insert(size.get());
      std::erase_if(constants_, [&](const Buffer* constant) { return !knows_shape(*constant); });
    } while (constants_.size() < known);
  }

  // Whether the step writes only temporaries, which no other step writes, from constants and values derived from them,
  // or is an assertion about such values.
  bool is_constant_step(std::size_t step, const Buffers& made) const {
    const Accesses& accesses = accesses_[step];
    // An assertion that keeps the indices of a gather in bounds comes before the gather, in whichever function that is.
    const bool asserts = steps_[step].as<Assert>() != nullptr;
    if (!asserts && (!accesses.is_only_memory || accesses.writes.empty())) return false;
    for (const Buffer* buffer : accesses.reads)
      if (!constants_.contains(buffer) && !made.contains(buffer) && !accesses.writes.contains(buffer)) return false;
    for (const Buffer* buffer : accesses.writes) {
      const auto is_it = [&](const BufferRef& other) { return other.get() == buffer; };
      if (std::none_of(allocated_.begin(), allocated_.end(), is_it)) return false;
      for (std::size_t other = 0; other < steps_.size(); ++other)
        if (other != step && accesses_[other].writes.contains(buffer)) return false;
    }
    return knows_sizes(free_vars(steps_[step])) && knows_shapes(accesses);
  }

  bool knows_shapes(const Accesses& accesses) const {
    const std::vector<const Buffer*> buffers = accesses.all();
    return std::all_of(buffers.begin(), buffers.end(), [&](const Buffer* buffer) { return knows_shape(*buffer); });
  }

  bool knows_shape(const Buffer& buffer) const {
    for (const std::vector<Expr>* sizes : {&buffer.shape, &buffer.strides})
      for (const Expr& size : *sizes)
        if (!knows_sizes(free_vars(size))) return false;
    return true;
  }

  bool knows_sizes(const std::vector<Expr>& vars) const {
    return std::all_of(vars.begin(), vars.end(), [&](const Expr& var) { return sizes_.contains(var.get()); });
  }

  static Stmt body_of(std::vector<Stmt> steps, const std::vector<BufferRef>& temporaries,
                      const BufferSubstitution& parameters) {
    Stmt body = Block::make(std::move(steps));
    for (auto buffer = temporaries.rbegin(); buffer != temporaries.rend(); ++buffer)
      if (!parameters.contains(buffer->get())) body = Allocate::make(*buffer, std::move(body));
    return substitute_buffers(body, parameters);
  }

  Function call_of(std::vector<Stmt> steps, const std::vector<BufferRef>& kept, const Buffers& made,
                   const BufferSubstitution& parameters) const {
    Function call = function_;
    std::vector<BufferRef> temporaries;
    for (const BufferRef& buffer : allocated_)
      if (!made.contains(buffer.get())) temporaries.push_back(buffer);
    call.body = body_of(std::move(steps), temporaries, parameters);
    for (const BufferRef& buffer : kept)
      call.parameters.push_back(
          {buffer->name, ParameterKind::tensor, Direction::in, parameters.at(buffer.get()), {}, false, true});
    return call;
  }

  Function init_of(std::vector<Stmt> steps, const std::vector<BufferRef>& kept, const Buffers& made,
                   const BufferSubstitution& parameters) const {
    Function init;
    init.name = function_.name + ".init_plan";
    init.init_of = function_.name;
    init.context = function_.context;
    init.messages = function_.messages;
    std::vector<BufferRef> temporaries;
    for (const BufferRef& buffer : allocated_)
      if (made.contains(buffer.get())) temporaries.push_back(buffer);
    std::unordered_set<const ExprNode*> sizes;
    for (const FunctionParameter& parameter : function_.parameters) {
      if (!constants_.contains(parameter.buffer.get())) continue;
      init.parameters.push_back(parameter);
      for (const Expr& size : parameter.buffer->shape) sizes.insert(size.get());
    }
    for (const Expr& symbol : function_.symbols)
      if (sizes.contains(symbol.get())) init.symbols.push_back(symbol);
    // The init function runs before the call, so it checks those of the call's requirements that it can
    // evaluate.
    for (const Requirement& requirement : function_.requirements) {
      const std::vector<Expr> vars = free_vars(requirement.condition);
      if (std::all_of(vars.begin(), vars.end(), [&](const Expr& var) { return sizes.contains(var.get()); }))
        init.requirements.push_back(requirement);
    }
    init.body = body_of(std::move(steps), temporaries, parameters);
    for (const BufferRef& buffer : kept)
      init.parameters.push_back(
          {buffer->name, ParameterKind::tensor, Direction::out, parameters.at(buffer.get()), {}, false, true});
    return init;
  }

  Function function_;
  std::vector<BufferRef> allocated_;  // at the root, outermost first
  std::vector<Stmt> steps_;
  std::vector<Accesses> accesses_;
  Buffers constants_;
  std::unordered_set<const ExprNode*> sizes_;  // determined by constants
  bool reads_constants_ = false;               // whether any of the constant steps does
};

}  // namespace

std::vector<Function> split_constants(Function function) { return Split(std::move(function)).run(); }

}  // namespace ferry::lower
