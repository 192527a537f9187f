#include "host/lower/accumulators.h"

#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::lower {

using namespace ir;

namespace {

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
  for (std::size_t i = 0; i < values.size(); ++i) {
    operands[reduce.reducer->left[i].get()] = into.load(i);
    operands[reduce.reducer->right[i].get()] = values[i];
  }
  if (values.size() == 1) return into.store(0, substitute(reduce.reducer->combine[0], operands));
  // Every component reads the old tuple, so the whole new tuple is computed before any of it is stored.
  std::vector<Stmt> stores;
  std::vector<Expr> names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    names.push_back(Var::make("combined" + std::to_string(i), values[i].type()));
    stores.push_back(into.store(i, names[i]));
  }
  Stmt body = Block::make(std::move(stores));
  for (std::size_t i = values.size(); i-- > 0;)
    body = LetStmt::make(names[i], substitute(reduce.reducer->combine[i], operands), std::move(body));
  return body;
}

Stmt store_each(const Accumulators& into, const std::vector<Expr>& values) {
  std::vector<Stmt> stores;
  for (std::size_t i = 0; i < values.size(); ++i) stores.push_back(into.store(i, values[i]));
  return Block::make(std::move(stores));
}

}  // namespace ferry::lower
