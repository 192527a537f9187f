// Expressions compiled to steps over lanes: each step computes one operation at up to kLanes points.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/reference/lanes.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace ferry::lang {

// The elements of a buffer.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  virtual std::span<const std::int64_t> extents() const = 0;
  // Returns false when an element may carry a rounding error.
  virtual bool exact() const = 0;
  // Loads the elements at these positions in memory order, all in bounds, for the lanes whose mask is not 0 (null mask:
  // all lanes); other lanes become 0.
  virtual void fetch(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) = 0;
};

using FindSource = std::function<ElementSource&(const ir::BufferRef&)>;

// Returns x if the bits are those of x + 1.5 * 2^23, which end in those of x rounded to an integer; otherwise null.
const ir::Expr* rounded_by_addition(const ir::Call& bitcast);

class LaneProgram {
 public:
  // `name` is the name of the computed tensor in messages.
  LaneProgram(std::string name, FindSource find) : name_(std::move(name)), find_(std::move(find)) {}

  // The expressions may call the intrinsics of this context; null: none. It must outlive this object.
  void use_intrinsics(const Context* context) { intrinsics_ = context; }
  // To be called before expressions are added.
  void notice_exact_operations() { notices_exact_ = true; }

  // Returns the variable's lanes, which the caller fills before each run.
  Lanes& bind(const ir::Expr& variable);
  // Binds the variable to the same value in all lanes.
  void bind_integer(const ir::Expr& variable, std::int64_t value);
  void bind_real(const ir::Expr& variable, double value);

  // Returns the lanes in which run() leaves the value. Loads happen only in lanes whose mask is true. All variables
  // must be bound before.
  const Lanes& add(const ir::Expr& expr, const Lanes* mask = nullptr);

  // Computes the first n lanes of every expression added.
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
  const Lanes& real_call(const ir::Call& node, ir::RealFunction function, const std::vector<const Lanes*>& arguments);
  const Lanes& integer_call(const ir::Call& node, const Lanes& a);
  // Returns the lanes of `mask` (null: all) in which `a` is `wanted`.
  const Lanes* narrower(const Lanes* mask, const Lanes& a, bool wanted);

  std::string name_;
  FindSource find_;
  const Context* intrinsics_ = nullptr;
  bool notices_exact_ = false;
  std::vector<std::unique_ptr<Lanes>> lanes_;
  std::unordered_map<const ir::ExprNode*, const Lanes*> variables_;
  std::map<std::pair<const ir::ExprNode*, const Lanes*>, const Lanes*> done_;
  std::vector<ir::Expr> kept_;  // keeps the keys of done_ alive
  std::vector<Step> steps_;
};

}  // namespace ferry::lang
