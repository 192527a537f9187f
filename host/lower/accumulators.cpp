#include "host/lower/accumulators.h"

#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <algorithm>
#include <utility>

namespace ferry::lower {

using namespace ir;

namespace {

// A larger operand that the combination uses more than once is computed once.
constexpr std::size_t kCheapNodes = 16;

// Partial results up to this size are kept on the stack; larger ones would evict everything else from the cache.
constexpr std::int64_t kMaxAccumulatorBytes = 16 * 1024;

Accumulators make(const Reduce& reduce, const std::vector<LoopCopy>& loops, const std::string& name, Scope scope) {
  Accumulators result;
  std::vector<Expr> shape, index;
  for (const LoopCopy& copy : loops) {
    shape.push_back(copy.loop.extent);
    index.push_back(copy.loop.var);
  }
  for (std::size_t i = 0; i < reduce.sources.size(); ++i) {
    Buffer buffer;
    buffer.name = name + (reduce.sources.size() > 1 ? std::to_string(i) : "");
    buffer.dtype = reduce.sources[i].type().code;
    buffer.shape = shape;
    buffer.scope = scope;
    buffer.component = i;
    result.buffers.push_back(std::make_shared<Buffer>(std::move(buffer)));
    result.indices.push_back(index);
  }
  return result;
}

bool is_used_repeatedly(const Reduce& reduce, const Expr& operand) {
  class Uses : public Visitor {
   public:
    explicit Uses(const Expr& var) : var_(var) {}
    int count = 0;

   protected:
    using Visitor::visit_node;
    void visit_node(const Var& node) override { count += &node == var_.get() ? 1 : 0; }

   private:
    const Expr& var_;
  };
  Uses uses(operand);
  for (const Expr& result : reduce.reducer->combine) uses.visit(result);
  return uses.count > 1;
}

// Stores what the reducer makes of these operands.
Stmt combined(const Reduce& reduce, const Accumulators& into, const Substitution& operands) {
  const std::vector<Expr>& combine = reduce.reducer->combine;
  if (combine.size() == 1) return into.store(0, substitute(combine[0], operands));
  // Every component reads the old tuple, so the whole new tuple is computed before any of it is stored.
  std::vector<Stmt> stores;
  std::vector<Expr> names;
  for (std::size_t i = 0; i < combine.size(); ++i) {
    names.push_back(Var::make("combined" + std::to_string(i), combine[i].type()));
    stores.push_back(into.store(i, names[i]));
  }
  Stmt body = Block::make(std::move(stores));
  for (std::size_t i = combine.size(); i-- > 0;)
    body = LetStmt::make(names[i], substitute(combine[i], operands), std::move(body));
  return body;
}

}  // namespace

bool fits_stack(const Reduce& reduce, const std::vector<LoopCopy>& loops) {
  std::int64_t bytes = 0;
  for (const Expr& source : reduce.sources) bytes += static_cast<std::int64_t>(dtype_bytes(source.type().code));
  for (const LoopCopy& copy : loops) {
    const std::int64_t* extent = as_int(copy.loop.extent);
    if (extent == nullptr || (*extent > 0 && bytes > kMaxAccumulatorBytes / *extent)) return false;
    bytes *= std::max<std::int64_t>(*extent, 1);
  }
  return true;
}

Accumulators make_accumulators(const Reduce& reduce, const std::vector<LoopCopy>& loops, const std::string& name) {
  return make(reduce, loops, name, fits_stack(reduce, loops) ? Scope::local : Scope::global);
}

Accumulators make_shared_accumulators(const Reduce& reduce, const std::vector<LoopCopy>& loops,
                                      const std::string& name) {
  return make(reduce, loops, name, Scope::shared);
}

Stmt allocated(const Accumulators& accumulators, Stmt body) {
  for (const BufferRef& buffer : accumulators.buffers) body = Allocate::make(buffer, std::move(body));
  return body;
}

Stmt combine(const Reduce& reduce, const Accumulators& into, const std::vector<Expr>& values) {
  Substitution operands;
  std::vector<std::pair<Expr, Expr>> once;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Expr& operand = reduce.reducer->right[i];
    operands[reduce.reducer->left[i].get()] = into.load(i);
    Expr& right = operands[operand.get()];
    right = values[i];
    // A function of math becomes dozens of operations.
    const bool is_cheap = analysis::count_nodes(values[i]) <= kCheapNodes && !contains(values[i], {ExprKind::Call});
    if (is_cheap || !is_used_repeatedly(reduce, operand)) continue;
    right = Var::make("operand" + (values.size() > 1 ? std::to_string(i) : ""), values[i].type());
    once.emplace_back(right, values[i]);
  }
  Stmt body = combined(reduce, into, operands);
  for (auto let = once.rbegin(); let != once.rend(); ++let)
    body = LetStmt::make(let->first, let->second, std::move(body));
  return body;
}

Stmt store_each(const Accumulators& into, const std::vector<Expr>& values) {
  std::vector<Stmt> stores;
  for (std::size_t i = 0; i < values.size(); ++i) stores.push_back(into.store(i, values[i]));
  return Block::make(std::move(stores));
}

}  // namespace ferry::lower
