#include "host/autoschedule/blocked_window.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "host/autoschedule/borders.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/window_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using analysis::loads_of;
using schedule::ComputeKind;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Unrolling larger windows increases code size more than it saves time.
constexpr std::int64_t kMaxPoints = 25;
// Images of open sizes have code for borders and shorter tiles beside that for the others. Windows with more points
// than this are then loops over rows, of which each is unrolled: 5 x 5 takes a fifth of the code.
constexpr std::int64_t kMaxOpenPoints = 9;
// Most channels in a block.
constexpr std::int64_t kMaxBlock = 64;
// Two multiply-add units with a latency of four cycles.
constexpr std::int64_t kInFlight = 8, kMaxPixels = 14;
// Images most of whose rows are at a border are unrolled as a whole, up to this many multiply-adds: the code of a row
// then reads no border.
constexpr std::int64_t kMaxImage = 1225;
// Cost factors of a shorter last tile, and of a row of two tiles, each of which has a border: with wide vectors, and
// with others.
constexpr double kTail = 0.88, kTwoTiles = 0.6, kTwoNarrowTiles = 0.5;
// Where registers are at least this wide, tiles were measured. On ARM, tiles of fewest instructions by the estimate
// execute 0.84 to 1.33 times as many as those that it has instead.
constexpr std::uint32_t kWideBits = 256;

bool uses_any(const Expr& index, const std::vector<Axis>& axes) {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return uses_var(index, axis.var); });
}

// Whether elements are widened before they are summed up, as bytes are.
bool widens(const ScheduledStage& stage) {
  const auto loads = loads_of(stage.reduction()->sources[0]);
  const DType sum = stage.reduction()->sources[0].type().code;
  return std::ranges::all_of(loads, [&](const Load* load) { return dtype_bytes(load->type.code) < dtype_bytes(sum); });
}

// Returns the length of vectors. Blocks of two registers of sums are one vector if elements are widened: they are read
// and multiplied in one register, and what follows narrows both at once.
std::int64_t vector_lanes(const ScheduledStage& stage, const Target& target) {
  const std::int64_t native = native_lanes(stage, target), block = constant_extent(stage.axes.back().extent);
  return block == 2 * native && widens(stage) ? block : std::min(native, block);
}

// Returns the most pixels that a tile may have: a register for each, and two for what they are computed from. A vector
// of two registers has a third for what is read.
std::int64_t max_pixels(const Target& target, bool has_pairs) {
  const std::int64_t most = static_cast<std::int64_t>(target.vector_registers) - 4;
  return std::clamp<std::int64_t>(has_pairs ? most / 3 : most, 2, kMaxPixels);
}

// Returns the pixels of a tile that has enough sums in flight and divides the row best.
std::int64_t tile_in_flight(std::int64_t width, std::int64_t most, const Target& target) {
  const double two_tiles = target.vector_bits >= kWideBits ? kTwoTiles : kTwoNarrowTiles;
  std::int64_t best = 1;
  double best_score = 0;
  for (std::int64_t pixels = 1; pixels <= std::min(most, width); ++pixels) {
    const std::int64_t tiles = (width + pixels - 1) / pixels;
    double score = static_cast<double>(std::min(pixels, kInFlight)) * static_cast<double>(width) /
                   static_cast<double>(tiles * pixels);
    if (width % pixels != 0) score *= kTail;
    if (tiles == 2) score *= two_tiles;
    if (score < best_score) continue;
    best = pixels;
    best_score = score;
  }
  return best;
}

std::int64_t tile_pixels(const ScheduledStage& stage, const Target& target, bool has_pairs) {
  const std::int64_t most = max_pixels(target, has_pairs);
  const std::int64_t width = constant_extent(stage.axes[stage.axes.size() - 2].extent);
  if (width < 1) return std::min(most, kInFlight);
  if (widens(stage) || target.vector_bits < kWideBits) return tile_in_flight(width, most, target);
  return choose_window_tile(width, sliding_window(stage), most, target);
}

// Copies constant filters that an inlined stage reads from elsewhere.
void copy_filters(Schedule& schedule, const ScheduledStage& stage, const ConstantNames& constants) {
  std::vector<std::string> filters;
  for (const Load* load : loads_of(stage.reduction()->sources[0])) {
    const ScheduledStage* read = find_stage(schedule.stages(), load->buffer->name);
    if (read != nullptr && read->compute_kind == ComputeKind::inlined && constants.contains(read->name))
      filters.push_back(read->name);
  }
  const std::string reader = stage.name;
  for (const std::string& name : filters) {
    StageHandle copy = StageHandle(schedule, name).cache_read("global", {reader});
    copy.vectorize(names_in_order(stage_of(schedule, copy).loops).back());
  }
}

// Whether a load reads one element for all elements of the stage.
bool is_invariant(const Load& load, const ScheduledStage& stage) {
  return std::ranges::none_of(load.indices, [&](const Expr& index) {
    return uses_any(index, stage.axes) || uses_any(index, stage.reduction()->axes);
  });
}

std::int64_t points_of(const Reduce& reduce) {
  std::int64_t points = 1;
  for (const Axis& axis : reduce.axes) points *= constant_extent(axis.extent);
  return points;
}

// Whether all pixels of an image may be unrolled.
bool is_small(const ScheduledStage& stage) {
  const std::size_t axes = stage.axes.size();
  const std::int64_t pixels =
      constant_extent(stage.axes[axes - 3].extent) * constant_extent(stage.axes[axes - 2].extent);
  return pixels > 0 && pixels * points_of(*stage.reduction()) <= kMaxImage;
}

// Whether at least half of the rows are at a border. The only axis of a window counts pairs of the elements of a
// square.
bool is_mostly_border(const ScheduledStage& stage) {
  const std::int64_t rows = constant_extent(stage.axes[stage.axes.size() - 3].extent);
  const Reduce& reduce = *stage.reduction();
  std::int64_t window = constant_extent(reduce.axes.front().extent);
  if (reduce.axes.size() == 1) window = std::lround(std::floor(std::sqrt(2 * window)));
  return 2 * (window - 1) >= rows;
}

// Whether threads should share out the rows of large images instead of the blocks of channels, as in convolutions: each
// then reads what it has itself computed in the layer before. In small images, switching channels with every row costs
// more.
bool shares_rows(const ScheduledStage& stage, const Target& target) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_bytes(stage.reduction()->sources[0].type().code));
  for (std::size_t a = stage.axes.size() - 3; a < stage.axes.size(); ++a)
    bytes *= constant_extent(stage.axes[a].extent);
  return bytes > 2 * l1_bytes(target);
}

// Axes of the window from `first_unrolled` on are unrolled.
void schedule_window(StageHandle handle, const ScheduledStage& stage, std::int64_t pixels, std::int64_t lanes,
                     std::size_t first_unrolled, bool unrolls_rows, bool rows_outermost) {
  const StageLoops loops = stage.loops;
  const std::size_t axes = stage.axes.size();
  std::vector<std::string> order, unrolled;
  for (std::size_t a = 0; a + 2 < axes; ++a) order.push_back(loops.loop(loops.spatial(a)).name);
  if (rows_outermost && !unrolls_rows) std::rotate(order.begin(), order.end() - 1, order.end());
  const auto [tiles, pixel] = handle.split(loops.loop(loops.spatial(axes - 2)).name, pixels);
  order.push_back(tiles);
  std::string lane = loops.loop(loops.spatial(axes - 1)).name;
  if (constant_extent(stage.axes.back().extent) != lanes) {
    const auto [vectors, inner] = handle.split(lane, lanes);
    order.push_back(vectors);
    lane = inner;
  }
  for (std::size_t a = 0; a < stage.reduction()->axes.size(); ++a) {
    order.push_back(loops.loop(loops.reduction(a)).name);
    if (a >= first_unrolled) unrolled.push_back(order.back());
  }
  order.insert(order.end(), {pixel, lane});
  unrolled.push_back(pixel);
  if (unrolls_rows) unrolled.push_back(loops.loop(loops.spatial(axes - 3)).name);
  handle.reorder(order).vectorize(lane);
  for (const std::string& name : unrolled) handle.unroll(name);
}

// Computes the padded image for one block of channels at a time, in the loops of the stage that the window is in.
void attach_border(Schedule& schedule, const std::string& border, const std::string& window_loops, std::int64_t lanes) {
  const ScheduledStage& around = *find_stage(schedule.stages(), window_loops);
  const std::string channels = around.loops.loop(around.loops.spatial(around.axes.size() - 4)).name;
  StageHandle handle = schedule[border];
  const ScheduledStage& stage = stage_of(schedule, handle);
  std::string lane = stage.loops.loop(stage.loops.spatial(stage.axes.size() - 1)).name;
  if (constant_extent(stage.axes.back().extent) != lanes) lane = handle.split(lane, lanes).second;
  handle.vectorize(lane).compute_at(window_loops, channels);
}

}  // namespace

bool is_blocked_window(const ScheduledStage& stage) {
  const Reduce* reduce = stage.reduction();
  if (reduce == nullptr || reduce->sources.size() != 1 || reduce->reducer->op == ReduceOp::user ||
      reduce->condition.defined() || !reduce->init.empty() || stage.axes.size() < 3)
    return false;
  const std::int64_t points = points_of(*reduce);
  if (points < 2 || points > kMaxPoints) return false;
  const std::int64_t block = constant_extent(stage.axes.back().extent);
  if (block < 2 || block > kMaxBlock || !std::has_single_bit(static_cast<std::uint64_t>(block))) return false;
  const Expr &lane = stage.axes.back().var, &pixel = stage.axes[stage.axes.size() - 2].var;
  bool slides = false;
  for (const Load* load : loads_of(reduce->sources[0])) {
    if (is_invariant(*load, stage)) continue;  // what padding has
    if (access_stride(*load, lane) != AccessStride::contiguous || uses_any(load->indices.back(), reduce->axes))
      return false;
    slides |= std::any_of(load->indices.begin(), load->indices.end(),
                          [&](const Expr& index) { return uses_var(index, pixel) && uses_any(index, reduce->axes); });
  }
  return slides;
}

double reuse(const ScheduledStage& stage) {
  auto sums = static_cast<double>(points_of(*stage.reduction()));
  const std::vector<const Load*> loads = loads_of(stage.reduction()->sources[0]);
  for (std::size_t a = stage.axes.size() - 3; a + 1 < stage.axes.size(); ++a) {
    const Expr& var = stage.axes[a].var;
    std::int64_t stride = 1;
    for (const Load* load : loads)
      for (const Expr& index : load->indices) {
        const Expr step = passes::simplify(substitute(index, {{var.get(), var + 1}}) - index);
        if (const std::int64_t* number = as_int(step)) stride = std::max(stride, *number);
      }
    sums /= static_cast<double>(stride);
  }
  return sums;
}

bool has_open_image(const ScheduledStage& stage, const schedule::Stages* at_any_size) {
  const ScheduledStage* symbolic = at_any_size == nullptr ? nullptr : find_stage(*at_any_size, stage.name);
  const ScheduledStage& open = symbolic == nullptr ? stage : *symbolic;
  const std::size_t axes = open.axes.size();
  return has_open_extent(open, {axes - 3, axes - 2});
}

std::optional<Match> match_blocked_window(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (context.outer != 0 || !is_blocked_window(stage)) return std::nullopt;
  const std::int64_t lanes = vector_lanes(stage, context.target);
  if (lanes < 2) return std::nullopt;
  const bool has_pairs = lanes > native_lanes(stage, context.target);
  std::int64_t pixels = tile_pixels(stage, context.target, has_pairs);
  const bool is_open = has_open_image(stage, context.at_any_size);
  const std::string border = is_open && context.at_any_size != nullptr
                                 ? attached_border(context.schedule.stages(), stage, *context.at_any_size)
                                 : std::string();
  // Each pixel that may be at a border has code of its own.
  if (is_open && border.empty()) pixels = std::min(pixels, kInFlight);
  std::vector<std::int64_t> candidates;
  for (std::int64_t count = 1; count <= max_pixels(context.target, has_pairs); ++count) candidates.push_back(count);
  Match match;
  match.space.knobs = {
      number_knob("pixels", KnobKind::tile, candidates, pixels), flag_knob("unroll_window", true),
      order_knob("order", {"channels_outside", "rows_outside"}, border.empty() && shares_rows(stage, context.target))};
  if (is_small(stage) && !is_open) match.space.knobs.push_back(flag_knob("unroll_rows", is_mostly_border(stage)));
  const std::size_t window_axes = stage.reduction()->axes.size();
  const std::size_t first_axis =
      is_open && border.empty() && points_of(*stage.reduction()) > kMaxOpenPoints ? window_axes - 1 : 0;
  match.apply = [name = stage.name, border, lanes, window_axes, first_unrolled = first_axis,
                 constants = context.constants, epilogues = context.epilogues](Schedule& schedule, const Point& point) {
    copy_filters(schedule, *find_stage(schedule.stages(), name), constants);
    const std::size_t first = schedule.directives().size();
    StageHandle handle = schedule[name];
    schedule_window(handle, stage_of(schedule, handle), point.number("pixels"), lanes,
                    point.flag("unroll_window") ? first_unrolled : window_axes, point.flag("unroll_rows"),
                    point.flag("order"));
    Scheduled scheduled = with_epilogues(schedule, name, first, epilogues);
    if (!border.empty()) {
      attach_border(schedule, border, scheduled.outermost, lanes);
      scheduled.epilogues.push_back(border);
    }
    return scheduled;
  };
  return match;
}

}  // namespace ferry::autoschedule
