#include "crosscompile/passes/loops/partition_loops.h"

#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/loops/fresh_copy.h"
#include "crosscompile/passes/loops/full_tile.h"
#include "crosscompile/passes/loops/guard_bounds.h"
#include "crosscompile/passes/loops/guards.h"
#include "crosscompile/passes/loops/steady_lanes.h"
#include "ferry/operators.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

using VarSet = std::set<const ExprNode*>;

VarSet vars_of(const std::vector<analysis::Range>& ranges) {
  VarSet vars;
  for (const analysis::Range& range : ranges) vars.insert(range.var.get());
  return vars;
}

// A position on one side of which the guard has its wanted outcome.
struct Cut {
  GuardBounds bounds;
  Expr position;
};

Outcomes wanted_outcomes(const std::vector<Cut>& cuts) {
  Outcomes outcomes;
  for (const Cut& cut : cuts) outcomes.emplace(cut.bounds.guard->comparison, cut.bounds.guard->wanted);
  return outcomes;
}

// Returns the parts that there are, one after the other, each with variables of its own.
Stmt joined(std::vector<Stmt> parts) {
  std::erase_if(parts, [](const Stmt& part) { return !part; });
  for (Stmt& part : parts) part = fresh_copy(part);
  return parts.empty() ? Stmt{} : Block::make(std::move(parts));
}

// A guard that does not always have its wanted outcome over the loops with these variables together; nothing more is
// known.
struct UndecidedGuard {
  const ExprNode* comparison;
  VarSet vars;
};

class Partitioner : public Mutator {
 public:
  Partitioner(const Function& function, const Target& target, const PartitionLimits& limits)
      : target_(target), budget_(most_nodes(function, limits)), assumptions_(function) {}

 protected:
  using Mutator::mutate_node;

  // Keeps the loops of an instruction's definition.
  Stmt mutate_node(const InstructionStmt& node, const Stmt& self) override {
    return node.arguments.empty() ? Mutator::mutate_node(node, self) : self;
  }
  Stmt mutate_node(const For& node, const Stmt& self) override {
    switch (node.for_kind) {
      case ForKind::serial: return cut(node, self);
      case ForKind::parallel: return version_body(node, self);
      case ForKind::vectorized: return vectorized(node, self);
      case ForKind::unrolled: return version_loop(node, self);
      // All threads of a block must reach the same barriers, so no loop is split at a position that differs between
      // threads.
      case ForKind::block_x:
      case ForKind::block_y:
      case ForKind::block_z:
      case ForKind::thread_x:
      case ForKind::thread_y:
      case ForKind::thread_z:
      case ForKind::vthread:
      case ForKind::combine: return self;
    }
    return self;
  }

  Stmt mutate_node(const LetStmt& node, const Stmt& self) override {
    const Assumptions::Let defined(assumptions_, node.var, node.value);
    return Mutator::mutate_node(node, self);
  }

  Stmt mutate_node(const If& node, const Stmt& self) override {
    return rewrite_sides(node, self, node.condition, assumptions_, [this](const Stmt& side) { return mutate(side); });
  }

 private:
  // Takes the nodes from the budget; returns false if it is too small for them.
  bool spend(std::size_t nodes) {
    if (nodes > budget_) return false;
    budget_ -= nodes;
    return true;
  }

  // Loops inside of a vectorized loop keep one range for all its lanes where the target has masks, or where none are
  // needed: with a different range in each lane they would have no vector form.
  bool differs_between_lanes(const GuardBounds& bounds) const {
    return (target_.capabilities.masks || bounds.guard->chooses) &&
           std::any_of(lanes_.begin(), lanes_.end(), [&](const Expr& lane) { return uses_var(bounds.worst, lane); });
  }

  // Runs `run` with part of the budget reserved for what comes after.
  Stmt with_reserve(std::size_t nodes, const std::function<Stmt()>& run) {
    budget_ -= nodes;
    Stmt result = run();
    budget_ += nodes;
    return result;
  }

  // Returns the guards in the body of a loop.
  std::vector<Guard> guards_in(const For& node) {
    const Assumptions::Loop in_loop(assumptions_, node.var, node.min, node.extent);
    return find_guards(node.body, assumptions_);
  }

  Stmt cut(const For& node, const Stmt& self) {
    const std::vector<Guard> guards = guards_in(node);
    // Each of two iterations may have a border of its own, so that none is without.
    const bool is_pair = is_constant(node.extent, 2);
    std::vector<Cut> lows, highs;  // wanted from the position on; wanted up to the position
    for (const Guard& guard : guards) {
      const auto bounds = depends_on(guard, node.var) ? bounds_over(guard, guard.inner) : std::nullopt;
      if (!bounds || differs_between_lanes(*bounds)) continue;
      const auto affine = analysis::affine_in(bounds->worst, node.var);
      if (!affine || affine->coefficient == 0) continue;
      if (!is_pair && !is_mostly_wanted(*bounds, affine->coefficient, node.extent)) continue;
      const Cut found = {*bounds, position_of(*affine, assumptions_)};
      // In one of them it has the wanted outcome.
      if (is_pair && !assumptions_.proves(affine->coefficient > 0 ? found.position <= node.min + Expr(1)
                                                                  : found.position >= node.min + Expr(1)))
        continue;
      (affine->coefficient > 0 ? lows : highs).push_back(found);
    }
    if (lows.empty() && highs.empty()) return version_body(node, self);

    const Expr begin = node.min;
    const Expr end = node.min + node.extent;
    Expr steady_begin = begin;
    Expr steady_end = end;
    for (const Cut& low : lows) steady_begin = max(steady_begin, low.position);
    for (const Cut& high : highs) steady_end = min(steady_end, high.position);
    // An empty range must not become two nonempty ones, and the three ranges must not overlap.
    if (!lows.empty()) steady_begin = assumptions_.simplify(min(steady_begin, end));
    if (!highs.empty()) steady_end = assumptions_.simplify(max(steady_end, steady_begin));
    const Expr last = assumptions_.simplify(end - Expr(1));
    if (is_pair && assumptions_.proves(steady_begin == last) && assumptions_.proves(steady_end == last) &&
        spend(analysis::count_nodes(node.body)))
      return apart(node, last, lows, highs);
    const bool has_before = !lows.empty() && !assumptions_.proves(steady_begin <= begin);
    const bool has_after = !highs.empty() && !assumptions_.proves(steady_end >= end);
    if (assumptions_.proves(steady_end <= steady_begin)) return version_body(node, self);
    if (!spend(analysis::count_nodes(node.body) * (std::size_t{has_before} + std::size_t{has_after})))
      return version_body(node, self);

    Outcomes wanted = wanted_outcomes(lows);
    wanted.merge(wanted_outcomes(highs));
    std::vector<Stmt> parts(3);
    // The steady state, which runs most, is refined first, but part of the budget is reserved for the other ranges.
    parts[1] =
        with_reserve(budget_ / 3, [&] { return piece(node, steady_begin, steady_end, assume(node.body, wanted), {}); });
    if (has_after) {
      parts[2] = with_reserve(has_before ? budget_ / 2 : 0, [&] { return outside(node, steady_end, end, highs); });
    }
    if (has_before) parts[0] = outside(node, begin, steady_begin, lows);
    return parts[0] || parts[2] ? joined(std::move(parts)) : parts[1];
  }

  // Makes a loop of two iterations one for each: the guards of `highs` hold in the first one, those of `lows` in the
  // second one.
  Stmt apart(const For& node, const Expr& second, const std::vector<Cut>& lows, const std::vector<Cut>& highs) {
    std::vector<Stmt> parts(2);
    const auto without = [&](const std::vector<Cut>& cuts) { return assume(node.body, wanted_outcomes(cuts)); };
    parts[0] = with_reserve(budget_ / 2, [&] { return piece(node, node.min, second, without(highs), {}); });
    parts[1] = piece(node, second, node.min + node.extent, without(lows), {});
    return joined(std::move(parts));
  }

  // Makes one loop over the iterations [begin, end) of the original loop.
  Stmt piece(const For& node, const Expr& begin, const Expr& end, const Stmt& body,
             const std::vector<UndecidedGuard>& undecided) {
    if (!body) return {};
    const Expr extent = assumptions_.simplify(end - begin);
    const Assumptions::Loop in_piece(assumptions_, node.var, begin, extent);
    const std::size_t known_before = undecided_.size();
    undecided_.insert(undecided_.end(), undecided.begin(), undecided.end());
    const Stmt loop = For::make(node.var, begin, extent, node.for_kind, body);
    Stmt result = version_body(*loop.as<For>(), loop);
    undecided_.resize(known_before);
    return result;
  }

  // Makes the loop over the iterations on the unwanted side of all these cuts. With a single cut more is known: a guard
  // without loops in between has the unwanted outcome, and the others have it at least once.
  Stmt outside(const For& node, const Expr& begin, const Expr& end, const std::vector<Cut>& cuts) {
    Outcomes outcomes;
    std::vector<UndecidedGuard> undecided;
    const bool single =
        std::all_of(cuts.begin(), cuts.end(), [&](const Cut& cut) { return equal(cut.position, cuts[0].position); });
    for (const Cut& cut : cuts) {
      const Guard& guard = *cut.bounds.guard;
      if (!single) continue;
      if (guard.inner.empty()) {
        outcomes.emplace(guard.comparison, !guard.wanted);
      } else {
        undecided.push_back({guard.comparison, vars_of(guard.inner)});
      }
    }
    return piece(node, begin, end, assume(node.body, outcomes), undecided);
  }

  // Tests an iteration's guards once: if (all have the wanted outcome) the body without them, else the body.
  Stmt version_body(const For& node, const Stmt& self) {
    const std::vector<Guard> guards = guards_in(node);
    const Assumptions::Loop in_loop(assumptions_, node.var, node.min, node.extent);
    FullTileSpecialization specialization;
    for (const Guard& guard : guards) {
      const auto bounds = depends_on(guard, node.var) ? bounds_over(guard, guard.inner) : std::nullopt;
      if (!bounds || !uses_var(bounds->worst, node.var) || differs_between_lanes(*bounds)) continue;
      const auto affine = analysis::affine_in(bounds->worst, node.var);
      if (affine && (node.for_kind == ForKind::serial || affine->coefficient == 0 ||
                     !is_mostly_wanted(*bounds, affine->coefficient, node.extent))) {
        continue;
      }
      if (tests_first(node.body, guard, assumptions_)) continue;
      add(specialization, *bounds, guard.inner);
    }
    const auto unchanged = [&] { return mutate(node.body); };
    const bool versions = specialization.tile.guards() > 0 && spend(analysis::count_nodes(node.body));
    Stmt body = versions ? specialized(specialization, node.body, unchanged) : unchanged();
    if (body.same_as(node.body)) return self;
    return body ? For::make(node.var, node.min, node.extent, node.for_kind, std::move(body)) : Stmt{};
  }

  struct FullTileSpecialization {
    FullTile tile;
    std::vector<UndecidedGuard> undecided;  // what follows when the tile is not full
  };

  void add(FullTileSpecialization& specialization, const GuardBounds& bounds,
           const std::vector<analysis::Range>& between) {
    const Expr condition = bounds.worst >= 0;
    if (assumptions_.proves(!condition)) return;
    specialization.tile.add(*bounds.guard, condition);
    specialization.undecided.push_back({bounds.guard->comparison, vars_of(between)});
  }

  // Makes: if (condition) the statement without its guards, else the result of `otherwise`.
  Stmt specialized(const FullTileSpecialization& specialization, const Stmt& stmt,
                   const std::function<Stmt()>& otherwise) {
    const Expr condition = specialization.tile.condition(assumptions_);
    Stmt common = specialization.tile.full(stmt);
    Stmt other;
    if (common) {
      const Assumptions::ScopedAssumption holds(assumptions_, condition);
      common = with_reserve(budget_ / 3, [&] { return mutate(common); });
    }
    if (is_constant(condition, 1)) return common;
    {
      const Assumptions::ScopedAssumption fails(assumptions_, condition, false);
      const std::size_t known_before = undecided_.size();
      if (specialization.tile.guards() == 1)
        undecided_.insert(undecided_.end(), specialization.undecided.begin(), specialization.undecided.end());
      other = otherwise();
      undecided_.resize(known_before);
    }
    if (common) common = fresh_copy(common);
    if (other) other = fresh_copy(other);
    return choose_version(condition, common, other);
  }

  Stmt vectorized(const For& node, const Stmt& self) {
    if (const Stmt parts = peeled(node)) return parts;
    lanes_.push_back(node.var);
    Stmt result = version_loop(node, self);
    lanes_.pop_back();
    return result;
  }

  // Splits a vectorized loop with a border at fixed lanes, such as a whole row of an image with padding: the lanes in
  // between become vectors without tests, the lanes before and after them serial loops. Returns nothing when most lanes
  // are border.
  Stmt peeled(const For& node) {
    const auto steady = find_steady_lanes(node, guards_in(node), assumptions_, target_);
    if (!steady) return {};
    const std::int64_t low = steady->begin, high = steady->end, lanes = *as_int(node.extent);
    if (!spend(analysis::count_nodes(node.body) * (std::size_t{low > 0} + std::size_t{high < lanes}))) return {};
    std::vector<Stmt> parts(3);
    if (const Stmt body = assume(node.body, steady->outcomes)) {
      const Stmt vectors =
          For::make(node.var, assumptions_.simplify(node.min + Expr(low)), Expr(high - low), ForKind::vectorized, body);
      parts[1] = with_reserve(budget_ / 3, [&] { return mutate(vectors); });
    }
    const auto border = [&](std::int64_t from, std::int64_t to) {
      const Stmt loop = For::make(node.var, assumptions_.simplify(node.min + Expr(from)), Expr(to - from),
                                  ForKind::serial, node.body);
      return mutate(loop);
    };
    if (low > 0) parts[0] = border(0, low);
    if (high < lanes) parts[2] = border(high, lanes);
    return joined(std::move(parts));
  }

  // Tests once whether all iterations of a vectorized or unrolled loop have the wanted outcome.
  Stmt version_loop(const For& node, const Stmt& self) {
    const bool is_vector = node.for_kind == ForKind::vectorized;
    // Without masks, a guard around stores would turn every store into a loop over the lanes.
    const std::vector<Guard> urgent =
        is_vector && !target_.capabilities.masks ? statement_guards(node) : std::vector<Guard>{};
    const std::vector<Guard> guards = guards_in(node);
    FullTileSpecialization specialization, urgent_specialization;
    bool is_tail = false;
    for (const Guard& guard : guards) {
      if (!uses_var(guard.margin, node.var)) continue;
      std::vector<analysis::Range> between{{node.var, node.min, node.extent}};
      between.insert(between.end(), guard.inner.begin(), guard.inner.end());
      const VarSet vars = vars_of(between);
      const auto known = std::find_if(undecided_.begin(), undecided_.end(), [&](const UndecidedGuard& undecided) {
        return undecided.comparison == guard.comparison && (!is_vector || undecided.vars == vars);
      });
      const bool is_urgent = std::any_of(urgent.begin(), urgent.end(),
                                         [&](const Guard& other) { return other.comparison == guard.comparison; });
      if (known != undecided_.end()) {
        is_tail |= is_urgent;
      } else if (const auto bounds = bounds_over(guard, between)) {
        add(specialization, *bounds, between);
        if (is_urgent) add(urgent_specialization, *bounds, between);
      }
    }
    const auto keep = [&] { return Mutator::mutate_node(node, self); };
    const auto tail = [&] {
      const Stmt shorter = shortened(node, urgent);
      return shorter ? shorter : keep();
    };
    if (is_tail) return tail();
    if (specialization.tile.guards() > 0 && spend(analysis::count_nodes(self)))
      return specialized(specialization, self,
                         urgent_specialization.tile.guards() == 0 ? std::function<Stmt()>(keep) : tail);
    return urgent_specialization.tile.guards() == 0 ? keep() : specialized(urgent_specialization, self, tail);
  }

  // Returns the guards of the If that is the whole body of a loop, if it is one.
  std::vector<Guard> statement_guards(const For& node) {
    const auto* guarded = node.body.as<If>();
    if (guarded == nullptr || guarded->on_false) return {};
    const Assumptions::Loop in_loop(assumptions_, node.var, node.min, node.extent);
    return find_guards(guarded->condition, assumptions_);
  }

  // Turns a vectorized loop around a guarded statement into a serial loop over the lanes for which the guards hold;
  // returns nothing when they do not bound the lanes.
  Stmt shortened(const For& node, const std::vector<Guard>& guards) {
    Expr begin = node.min;
    Expr end = node.min + node.extent;
    Outcomes outcomes;
    for (const Guard& guard : guards) {
      const auto affine = analysis::affine_in(guard.margin, node.var);
      if (!guard.wanted || !affine || affine->coefficient == 0) continue;
      if (affine->coefficient > 0) {
        begin = max(begin, -(affine->rest / Expr(affine->coefficient)));
      } else {
        end = min(end, (affine->rest + Expr(-affine->coefficient)) / Expr(-affine->coefficient));
      }
      outcomes.emplace(guard.comparison, true);
    }
    if (outcomes.empty()) return {};
    const auto& guarded = *node.body.as<If>();
    begin = assumptions_.simplify(begin);
    const Expr condition = assume(guarded.condition, outcomes);
    Stmt body = is_constant(condition, 1) ? guarded.on_true : If::make(condition, guarded.on_true);
    return For::make(node.var, begin, assumptions_.simplify(end - begin), ForKind::serial, std::move(body));
  }

  const Target& target_;
  std::size_t budget_;
  Assumptions assumptions_;
  std::vector<UndecidedGuard> undecided_;
  std::vector<Expr> lanes_;  // variables of the enclosing vectorized loops
};

}  // namespace

Function partition_loops(Function function, const Target& target, const PartitionLimits& limits) {
  function.body = Partitioner(function, target, limits).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
