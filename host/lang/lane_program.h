// Expressions compiled to steps over lanes: each step computes one operation at up to kLanes points.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/lanes.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace ferry::lang {

// Where the elements of a buffer come from.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  virtual std::span<const std::int64_t> extents() const = 0;
  // False when an element may carry a rounding error.
  virtual bool exact() const = 0;
  // Elements at these positions in memory order, all inside, for the lanes whose mask is not 0 (null: all); 0 in
  // others.
  virtual void fetch(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) = 0;
};

using FindSource = std::function<ElementSource&(const ir::BufferRef&)>;

class LaneProgram {
 public:
  // `name` is what messages call the tensor being computed.
  LaneProgram(std::string name, FindSource find) : name_(std::move(name)), find_(std::move(find)) {}

  // Whose intrinsics the expressions may call; null: none. Outlives this.
  void use_intrinsics(const Context* context) { intrinsics_ = context; }

  // The variable's lanes, for the caller to fill before each run.
  Lanes& bind(const ir::Expr& variable);
  // The same value in all lanes.
  void bind_integer(const ir::Expr& variable, std::int64_t value);
  void bind_real(const ir::Expr& variable, double value);

  // Where run() will leave the value. Loads happen only in lanes whose mask is true. All variables must be bound
  // before.
  const Lanes& add(const ir::Expr& expr, const Lanes* mask = nullptr);

  // The first n lanes of everything added.
  void run(std::size_t n) {
    for (const Step& step : steps_) step(n);
  }

 private:
  using Step = std::function<void(std::size_t)>;

  Lanes& make(DType type, bool exact);
  const Lanes& compile(const ir::Expr& expr, const Lanes* mask);
  const Lanes& constant(const ir::Expr& expr);
  const Lanes& binary(const ir::Binary& node, const Lanes* mask);
  const Lanes& guarded_choice(const ir::IfThenElse& node, const Lanes* mask);
  const Lanes& choice(const Lanes& condition, const Lanes& on_true, const Lanes& on_false);
  const Lanes& load(const ir::Load& node, const Lanes* mask);
  void check_inside(const ir::Buffer& buffer, std::span<const std::int64_t> extents,
                    const std::vector<const Lanes*>& indices, const Lanes* mask, std::size_t n) const;
  const Lanes& call(const ir::Call& node, const Lanes* mask);
  // `a` and `b` where a mask is given already; `wanted` says which value of `a` counts.
  const Lanes* narrower(const Lanes* mask, const Lanes& a, bool wanted);

  std::string name_;
  FindSource find_;
  const Context* intrinsics_ = nullptr;
  std::vector<std::unique_ptr<Lanes>> lanes_;
  std::unordered_map<const ir::ExprNode*, const Lanes*> variables_;
  std::map<std::pair<const ir::ExprNode*, const Lanes*>, const Lanes*> done_;
  std::vector<ir::Expr> kept_;  // what done_ points to
  std::vector<Step> steps_;
};

}  // namespace ferry::lang
