#include "crosscompile/passes/memory/liveness.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/error.h"
#include "ferry/operators.h"

#include <algorithm>
#include <unordered_map>

namespace ferry::passes {
namespace {

using namespace ir;

// Sizes are computed without a check for overflow, and several buffers of this size can be added up.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 48;

struct Bounds {
  Expr low, high;
};

// Returns bounds of a product over all iterations of the loops. All of its factors may vary, and their signs are not
// known, so each bound is one of the products of the factors' bounds.
std::optional<Bounds> bounds_of(const Expr& expr, std::span<const analysis::Range> ranges) {
  const auto low = analysis::lower_bound(expr, ranges), high = analysis::upper_bound(expr, ranges);
  if (low && high) return Bounds{*low, *high};
  const auto* product = expr.as<Binary>();
  if (product == nullptr || product->op != BinaryOp::mul) return std::nullopt;
  const auto left = bounds_of(product->left, ranges), right = bounds_of(product->right, ranges);
  if (!left || !right) return std::nullopt;
  Bounds result{left->low * right->low, left->low * right->low};
  for (const Expr& corner : {left->low * right->high, left->high * right->low, left->high * right->high})
    result = {min(result.low, corner), max(result.high, corner)};
  return result;
}

// Fused loops have products as extents.
std::optional<Expr> most_of(const Expr& extent, std::span<const analysis::Range> ranges) {
  if (auto most = analysis::upper_bound(extent, ranges)) return most;
  const auto bounds = bounds_of(extent, ranges);
  return bounds ? std::optional(bounds->high) : std::nullopt;
}

class LivenessFinder : public Visitor {
 public:
  explicit LivenessFinder(const Function& function) {
    for (const Expr& symbol : function.symbols) facts_.push_back(symbol >= 0);
  }
  std::vector<LiveBuffer> found;

 protected:
  using Visitor::visit_node;

  void visit_node(const Load& node) override {
    use(node.buffer.get());
    Visitor::visit_node(node);
  }

  void visit_node(const Store& node) override {
    ++position_;
    use(node.buffer.get());
    Visitor::visit_node(node);
  }

  void visit_node(const Evaluate& node) override {
    ++position_;
    Visitor::visit_node(node);
  }

  void visit_node(const Assert& node) override {
    ++position_;
    Visitor::visit_node(node);
  }

  void visit_node(const If& node) override {
    ++position_;
    Visitor::visit_node(node);
  }

  void visit_node(const LetStmt& node) override {
    ++position_;
    lets_[node.var.get()] = substitute(node.value, lets_);
    Visitor::visit_node(node);
  }

  void visit_node(const For& node) override {
    ++position_;
    visit(node.min);
    visit(node.extent);
    loops_.push_back({position_, {}});
    ranges_.push_back({node.var, substitute(node.min, lets_), substitute(node.extent, lets_)});
    parallel_ += node.for_kind == ForKind::parallel ? 1 : 0;
    visit(node.body);
    parallel_ -= node.for_kind == ForKind::parallel ? 1 : 0;
    ranges_.pop_back();
    ++position_;
    for (const std::size_t buffer : loops_.back().used) found[buffer].last = position_;
    loops_.pop_back();
  }

  void visit_node(const Allocate& node) override {
    ++position_;
    if (node.buffer->scope == Scope::global) {
      known_[node.buffer.get()] = {found.size(), loops_.size()};
      // INT64_MAX is above any position, so the first use lowers it.
      found.push_back({&node, parallel_ > 0, INT64_MAX, -1, bytes_of(*node.buffer)});
    }
    visit(node.body);
  }

 private:
  struct Loop {
    std::int64_t begin;
    std::vector<std::size_t> used;  // buffers allocated outside of this loop, for which it is the outermost such loop
  };
  struct Known {
    std::size_t index;
    std::size_t loops;  // number of loops around its allocation
  };

  void use(const Buffer* buffer) {
    const auto known = known_.find(buffer);
    if (known == known_.end()) return;
    LiveBuffer& live = found[known->second.index];
    std::int64_t from = position_;
    if (loops_.size() > known->second.loops) {
      Loop& outermost = loops_[known->second.loops];
      from = outermost.begin;
      if (std::find(outermost.used.begin(), outermost.used.end(), known->second.index) == outermost.used.end())
        outermost.used.push_back(known->second.index);
    }
    live.first = std::min(live.first, from);
    live.last = std::max(live.last, position_);
  }

  Expr bytes_of(const Buffer& buffer) {
    auto known = static_cast<std::int64_t>(dtype_bytes(buffer.dtype));  // times the extents that are numbers
    Expr bytes = known;
    for (const Expr& extent : buffer.shape) {
      const auto most = most_of(substitute(extent, lets_), ranges_);
      if (!most || !analysis::is_arithmetic(*most)) {
        throw InternalError("the size of '" + buffer.name + "' has no bound outside the loops around it");
      }
      // An empty loop nest may have a negative extent; the product of two of them must not become a positive size.
      const Expr size = can_prove(*most >= 0, facts_) ? *most : max(*most, 0);
      const Expr simplified = simplify(size, facts_);
      if (const std::int64_t* number = as_int(simplified))
        if (__builtin_mul_overflow(known, *number, &known) || known > kMostBytes)
          throw CompileError("'" + buffer.name + "' has more elements than can be counted");
      bytes = bytes * size;
    }
    return simplify(bytes, facts_);
  }

  std::int64_t position_ = 0;
  int parallel_ = 0;
  std::vector<Loop> loops_;
  std::vector<analysis::Range> ranges_;
  Substitution lets_;
  std::vector<Expr> facts_;
  std::unordered_map<const Buffer*, Known> known_;
};

}  // namespace

bool overlap(const LiveBuffer& a, const LiveBuffer& b) { return a.first <= b.last && b.first <= a.last; }

std::vector<LiveBuffer> find_live_buffers(const Function& function) {
  LivenessFinder finder(function);
  finder.visit(function.body);
  return std::move(finder.found);
}

}  // namespace ferry::passes
