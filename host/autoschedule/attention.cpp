#include "host/autoschedule/attention.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/attention_stages.h"
#include "host/autoschedule/blocked_contraction.h"
#include "host/autoschedule/blocked_loops.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;
using schedule::Stages;

namespace {

// Tiles of fewer rows do not fill the registers.
constexpr std::int64_t kFewestQueries = 8;
// More rows gain nothing: a panel of columns is read from the second-level cache once for all rows of a block.
constexpr std::int64_t kMostRows = 48;
// The number of keys that is assumed where it is open.
constexpr std::int64_t kCommonKeys = 512;
constexpr std::int64_t kLineBytes = 64;

struct Products {
  AttentionStages stages;
  Contraction scores, product;
};

std::int64_t round_up_to(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Returns the contraction whose rows are indexed by the last axis but one, and its columns by the last.
std::optional<Contraction> contraction_of(const ScheduledStage& stage, const ConstantNames& constants) {
  const std::vector<const Load*> loads = loads_of(stage.reduction()->sources[0]);
  for (const std::size_t side : {0U, 1U}) {
    auto found = contraction_with_columns(stage, loads[side], loads[1 - side], stage.axes.size() - 1);
    if (!found || found->row + 2 != stage.axes.size()) continue;
    found->is_column_constant = constants.contains(found->column_load->buffer->name);
    return found;
  }
  return std::nullopt;
}

std::optional<Products> products_of(const StageContext& context) {
  const auto stages = find_attention(context.schedule.stages(), context.stage);
  if (!stages) return std::nullopt;
  const auto scores = contraction_of(*find_stage(context.schedule.stages(), stages->scores), context.constants);
  const auto product = contraction_of(context.stage, context.constants);
  if (!scores || !product) return std::nullopt;
  return Products{*stages, *scores, *product};
}

// A point of the space.
struct AttentionPoint {
  RegisterTile tile, score_tile;
  std::int64_t rows = 1, lanes = 1;
  bool is_parallel = true;
};

// Returns the blocking of one of the products, with the columns in the outer loops.
Blocking product_blocking(const ScheduledStage& stage, const Contraction& contraction, RegisterTile tile,
                          std::int64_t lanes, const Target& target) {
  Blocking blocking = default_blocking(stage, contraction, lanes, target, true);
  blocking.tile = tile;
  blocking.columns_outermost = true;
  blocking.depth_block = contraction.depth;
  if (contraction.depth == 0) blocking.steps = 1;
  const bool is_in_place = contraction.is_column_contiguous && !contraction.is_column_constant &&
                           contraction.columns > 0 && contraction.columns % lanes == 0 &&
                           contraction.columns <= tile.vectors * lanes;
  blocking.packs_columns = !is_in_place;
  blocking.packs_rows = blocking.prefetches_next = false;
  blocking.is_parallel = false;
  return blocking;
}

// Returns the rows whose scores and weights fill a quarter of the second-level cache, so that blocks are about equal.
std::int64_t default_rows(const Products& products, std::int64_t tile_rows, const ScheduledStage& product,
                          const Target& target) {
  const std::int64_t keys = products.scores.columns == 0 ? kCommonKeys : products.scores.columns;
  const std::int64_t bytes = 2 * keys * static_cast<std::int64_t>(dtype_bytes(product.outputs[0]->dtype));
  std::int64_t rows = std::clamp(l2_bytes(target) / 4 / bytes, tile_rows, std::max(tile_rows, kMostRows));
  if (const std::int64_t all = constant_extent(product.axes[products.product.row].extent); all > 0) {
    const std::int64_t blocks = (all + rows - 1) / rows;
    rows = (all + blocks - 1) / blocks;
  }
  return round_up_to(rows, tile_rows);
}

AttentionPoint default_point(const Products& products, const StageContext& context, std::int64_t lanes) {
  const ScheduledStage& scores = *find_stage(context.schedule.stages(), products.stages.scores);
  AttentionPoint point;
  point.lanes = lanes;
  point.tile = default_blocking(context.stage, products.product, lanes, context.target, true).tile;
  point.rows = default_rows(products, point.tile.rows, context.stage, context.target);
  point.score_tile = default_blocking(scores, products.scores, lanes, context.target, true).tile;
  return point;
}

// Makes the schedule of attention.
class AttentionScheduler {
 public:
  AttentionScheduler(Schedule& schedule, const Products& products, const AttentionPoint& point, const Target& target)
      : schedule_(schedule), products_(products), stages_(products.stages), point_(point), target_(target) {}

  // Threads share out loops evenly if their extents are known.
  void run(bool has_known_extents) {
    compute_product(has_known_extents);
    compute_scores();
    // The rows of a block of scores or weights would otherwise often be a power of two of bytes apart.
    align_rows(stages_.weights);
    schedule_[stages_.weights].compute_at(around_, block_);
    for (const std::string& name : stages_.beside) schedule_[name].compute_at(around_, block_);
    const std::string row = loop_name(stages_.weights, stages_.rows);
    for (const std::string& name : stages_.before) schedule_[name].compute_at(stages_.weights, row);
  }

 private:
  const ScheduledStage& stage(const std::string& name) const { return *find_stage(schedule_.stages(), name); }

  std::string loop_name(const std::string& name, std::size_t axis) const {
    const StageLoops& loops = stage(name).loops;
    return loops.loop(loops.spatial(axis)).name;
  }

  void align_rows(const std::string& name) {
    const ScheduledStage& of = stage(name);
    const std::int64_t line = kLineBytes / static_cast<std::int64_t>(dtype_bytes(of.outputs[0]->dtype));
    schedule_[name].apply("storage_align",
                          {of.axes[stages_.rows].var.as<Var>()->name, std::to_string(2 * line), std::to_string(line)});
  }

  // Computes packed columns in the innermost loop over batches, or once for all.
  void place_packed(const std::string& packed, const Contraction& contraction) {
    if (packed.empty() || contraction.is_column_constant) return;
    if (packs_in_.empty())
      make_parallel(schedule_, schedule_[packed]);
    else
      schedule_[packed].compute_at(around_, packs_in_);
  }

  void compute_product(bool has_known_extents) {
    const ScheduledStage& product = stage(stages_.product);
    const Blocking blocking = product_blocking(product, products_.product, point_.tile, point_.lanes, target_);
    around_ = stages_.epilogues.empty() ? stages_.product : stages_.epilogues.back();
    const std::string packed =
        blocking.packs_columns
            ? pack(schedule_, stages_.product, column_packing(products_.product, point_.tile, point_.lanes))
            : "";
    const std::size_t first = schedule_.directives().size();
    if (around_ != stages_.product)
      make_loops(schedule_, schedule_[stages_.product], product, products_.product, blocking);
    BlockedLoops loops = make_loops(schedule_, schedule_[around_], product, products_.product, blocking);
    StageHandle handle = schedule_[around_];
    const std::string rows = loops.rows.back();
    loops.rows.pop_back();
    const auto [block, in_block] = handle.split(rows, std::max<std::int64_t>(point_.rows / point_.tile.rows, 1));
    // Axes over rows outside of the last one are batches whose columns are the same.
    std::vector<std::string> outer = joined(loops.batches, loops.rows);
    block_ = block;
    std::vector<std::string> order = outer;
    order.push_back(block);
    const std::vector<std::string> after = {loops.columns, in_block};
    order.insert(order.end(), after.begin(), after.end());
    for (const std::string& name : names_in_order(stage(around_).loops))
      if (std::ranges::find(order, name) == order.end()) order.push_back(name);
    handle.reorder(order);
    share_out(handle, outer, has_known_extents);
    if (around_ != stages_.product) {
      schedule_[stages_.product].compute_at(around_, in_block);
      compute_between(schedule_, stages_.product, first, stages_.epilogues);
    }
    place_packed(packed, products_.product);
  }

  // Makes the loops over batches parallel, or those over blocks together with them.
  void share_out(StageHandle handle, std::vector<std::string> outer, bool has_known_extents) {
    const auto is_one = [&](const std::string& name) {
      const StageLoops& loops = stage(around_).loops;
      return is_constant(loops.loop(*loops.find(name)).extent, 1);
    };
    std::erase_if(outer, is_one);
    std::vector<std::string> all = outer;
    all.push_back(block_);
    std::vector<std::string> shared = {all.front()};
    if (has_known_extents) shared = loops_to_share(stage(around_).loops, all, target_);
    if (!point_.is_parallel) shared.clear();
    const bool shares_blocks = std::ranges::find(shared, block_) != shared.end();
    if (!shared.empty()) {
      const std::string fused = fuse_all(handle, shared);
      if (shares_blocks) block_ = fused;
      std::erase_if(outer, [&](const std::string& name) { return std::ranges::find(shared, name) != shared.end(); });
      if (!shares_blocks) outer.insert(outer.begin(), fused);
      handle.parallel(fused);
    }
    if (!shares_blocks && !outer.empty()) packs_in_ = outer.back();
  }

  void compute_scores() {
    const ScheduledStage& scores = stage(stages_.scores);
    const Blocking blocking = product_blocking(scores, products_.scores, point_.score_tile, point_.lanes, target_);
    const std::string last = stages_.score_epilogues.empty() ? "" : stages_.score_epilogues.back();
    const std::size_t first = schedule_.directives().size();
    const std::string packed =
        schedule_blocked(schedule_, schedule_[stages_.scores], products_.scores, blocking, last, nullptr);
    if (!last.empty()) compute_between(schedule_, stages_.scores, first, stages_.score_epilogues);
    const std::string stored = last.empty() ? stages_.scores : last;
    align_rows(stored);
    schedule_[stored].compute_at(around_, block_);
    place_packed(packed, products_.scores);
  }

  Schedule& schedule_;
  const Products& products_;
  const AttentionStages& stages_;
  const AttentionPoint& point_;
  const Target& target_;
  std::string around_;    // the stage in whose loops all others are computed
  std::string block_;     // its loop over blocks of rows
  std::string packs_in_;  // its loop in which columns are packed; empty: outside of all
};

std::vector<KnobValue> product_tiles(const Target& target, const Contraction& contraction, std::int64_t lanes) {
  std::vector<KnobValue> candidates;
  for (const RegisterTile& tile :
       register_tiles(target.vector_registers, {.columns = contraction.columns, .lanes = lanes}))
    candidates.push_back({tile.rows, tile.vectors});
  return candidates;
}

}  // namespace

bool wants_attention(const AttentionSizes& sizes, const Target& target) {
  if (sizes.queries > 0 && sizes.queries < kFewestQueries) return false;
  if (sizes.heads == 0 || sizes.queries == 0 || sizes.keys == 0) return true;
  return sizes.heads * sizes.queries * sizes.keys * sizes.bytes > 2 * l2_bytes(target);
}

std::optional<Match> match_attention(const StageContext& context) {
  if (context.outer != 0) return std::nullopt;
  const auto products = products_of(context);
  const std::int64_t lanes = native_lanes(context.stage, context.target);
  if (!products || lanes < 2) return std::nullopt;
  const std::int64_t rows = constant_extent(context.stage.axes[products->product.row].extent);
  if (rows > 0 && rows < kFewestQueries) return std::nullopt;
  const AttentionPoint by_default = default_point(*products, context, lanes);
  const auto value = [](RegisterTile tile) { return KnobValue{tile.rows, tile.vectors}; };
  Match match;
  match.space.knobs = {tile_knob("tile", {"rows", "vectors"}, product_tiles(context.target, products->product, lanes),
                                 value(by_default.tile)),
                       tile_knob("score_tile", {"rows", "vectors"},
                                 product_tiles(context.target, products->scores, lanes), value(by_default.score_tile)),
                       number_knob("rows", KnobKind::tile, {8, 16, 32, 64, 128}, by_default.rows),
                       flag_knob("parallel", true)};
  const bool is_known = has_known_extents(context.stage, context.at_any_size);
  match.apply = [products = *products, lanes, is_known, target = context.target](Schedule& schedule,
                                                                                 const Point& point) {
    const RegisterTile tile = {point["tile"][0], point["tile"][1]};
    const AttentionPoint chosen = {.tile = tile,
                                   .score_tile = {point["score_tile"][0], point["score_tile"][1]},
                                   .rows = round_up_to(point.number("rows"), tile.rows),
                                   .lanes = lanes,
                                   .is_parallel = point.flag("parallel")};
    AttentionScheduler(schedule, products, chosen, target).run(is_known);
    const AttentionStages& stages = products.stages;
    Scheduled scheduled;
    scheduled.epilogues = joined(stages.epilogues, stages.score_epilogues);
    scheduled.epilogues.insert(scheduled.epilogues.end(), {stages.product, stages.scores});
    scheduled.outer[stages.weights] = stages.rows + 1;
    for (const std::string& name : stages.before) scheduled.outer[name] = stages.rows + 1;
    for (const std::string& name : stages.beside) scheduled.outer[name] = stages.rows;
    return scheduled;
  };
  return match;
}

}  // namespace ferry::autoschedule
