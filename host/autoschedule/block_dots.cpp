#include "host/autoschedule/block_dots.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "host/autoschedule/block_tiles.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/dot_product.h"
#include "host/autoschedule/epilogue_fusion.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ferry::autoschedule {

using namespace ir;
using schedule::ComputeKind;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Axes of the numbers, from the last: those over the bytes of a group, columns, the numbers in a byte, and words.
constexpr std::size_t kGroupFromEnd = 1, kColumnFromEnd = 2, kEntryFromEnd = 3, kWordFromEnd = 4;
// More numbers in a byte would not stay in registers.
constexpr std::int64_t kMostInByte = 4;

struct BlockDots {
  BlockSums sums;
  std::string numbers = {};  // the stage that unpacks; empty: bytes are multiplied as they are
  std::int64_t group = 4, in_byte = 1;
  std::vector<BufferRef> constants = {};  // constants that the numbers read, which may be prefetched
};

// Whether these variables are the last indices of a load, in order, and occur in no other.
bool ends_with(const Load& load, const std::vector<Expr>& last) {
  if (load.indices.size() < last.size()) return false;
  const std::size_t others = load.indices.size() - last.size();
  for (std::size_t i = 0; i < last.size(); ++i)
    if (!load.indices[others + i].same_as(last[i])) return false;
  return std::all_of(load.indices.begin(), load.indices.begin() + static_cast<std::ptrdiff_t>(others),
                     [&](const Expr& index) {
                       return std::ranges::none_of(last, [&](const Expr& var) { return uses_var(index, var); });
                     });
}

bool has_instruction(const Target& target, DType one, DType other, std::int64_t lanes, std::int64_t group) {
  const auto* found = passes::find_dot_of_factors(target, DType::i32, one, other, static_cast<std::uint32_t>(lanes),
                                                  static_cast<std::uint32_t>(group));
  return found != nullptr && lanes % found->lanes == 0;
}

// Returns nothing if the sums of blocks are no dots of rows and of numbers that a stage unpacks for them alone.
std::optional<BlockDots> find_block_dots(const StageContext& context) {
  auto sums = find_block_sums(context);
  if (!sums || sums->column_extent == 0 || sums->column_extent % sums->lanes != 0) return std::nullopt;
  if (constant_extent(context.stage_at_any_size().axes.back().extent) == 0) return std::nullopt;
  const Reduce& reduce = *context.stage.reduction();
  const auto* product = reduce.sources[0].as<Binary>();
  constexpr std::size_t kAxes = 3;  // words, numbers in a byte, bytes in a group
  if (product == nullptr || product->op != BinaryOp::mul || reduce.axes.size() != kAxes) return std::nullopt;
  const Load *rows = byte_of(product->left), *numbers = byte_of(product->right);
  if (rows == nullptr || numbers == nullptr) return std::nullopt;
  const Expr &column = context.stage.axes.back().var, &group = reduce.axes[2].var, &entry = reduce.axes[1].var;
  if (is_indexed_by(*rows, column)) std::swap(rows, numbers);
  if (!ends_with(*numbers, {column, group}) || !ends_with(*rows, {entry, group}) || is_indexed_by(*rows, column))
    return std::nullopt;
  BlockDots found{.sums = *std::move(sums),
                  .group = constant_extent(reduce.axes[2].extent),
                  .in_byte = constant_extent(reduce.axes[1].extent)};
  if (found.in_byte == 0 || found.in_byte > kMostInByte || found.group == 0 ||
      !has_instruction(context.target, rows->type.code, numbers->type.code, found.sums.lanes, found.group))
    return std::nullopt;
  const schedule::Stages& stages = context.schedule.stages();
  const ScheduledStage* stage = schedule::producer_of(stages, numbers->buffer.get());
  if (stage == nullptr) {
    found.constants = streamed_constants(reduce.sources[0], column, context);
    return found;
  }
  if (stage->reduction() != nullptr || stage->compute_kind != ComputeKind::root || stage->axes.size() < kWordFromEnd ||
      stage->values.size() != 1 || readers_of(stages, *stage).size() != 1 ||
      !ends_with(*numbers, {entry, column, group}))
    return std::nullopt;
  found.numbers = stage->name;
  found.constants = streamed_constants(stage->values[0], stage->axes[stage->axes.size() - kColumnFromEnd].var, context);
  return found;
}

// Unpacks the numbers of a word for a tile's columns at once, in vectors of groups.
void schedule_numbers(Schedule& schedule, const BlockDots& choice, const std::string& words, std::int64_t columns,
                      std::int64_t bytes_ahead) {
  StageHandle numbers = schedule[choice.numbers];
  const std::size_t axes = stage_of(schedule, numbers).axes.size();
  const auto name_of = [&](std::size_t from_end) {
    const StageLoops& loops = stage_of(schedule, numbers).loops;
    return loops.loop(loops.spatial(axes - from_end)).name;
  };
  const std::string word = name_of(kWordFromEnd), entry = name_of(kEntryFromEnd), group = name_of(kGroupFromEnd);
  prefetch_columns(numbers, choice.constants, word, columns * choice.group, bytes_ahead);
  const auto [vectors, in_vector] = numbers.split(name_of(kColumnFromEnd), choice.sums.lanes);
  numbers.unroll(entry).unroll(vectors).vectorize(numbers.fuse(in_vector, group));
  numbers.compute_at(choice.sums.sums, words);
}

Scheduled schedule_block_dots(Schedule& schedule, const BlockDots& choice, const Point& point) {
  const RegisterTile tile{point["tile"][0], point["tile"][1]};
  const std::int64_t columns = tile.vectors * choice.sums.lanes, bytes_ahead = point.number("ahead", 0);
  StageHandle sums = schedule[choice.sums.sums], total = schedule[choice.sums.total];
  const std::size_t first = schedule.directives().size();
  const std::string blocks = schedule_total(schedule, choice.sums, tile);
  prefetch_columns(total, choice.sums.constants_of_total, blocks, columns, bytes_ahead);

  const std::vector<std::string> steps = reduction_loops(schedule, sums);
  TiledLoops loops = split_tiles(schedule, sums, choice.sums.rows, tile, choice.sums.lanes);
  const std::string lane = loops.tile.back();
  unroll_tile(sums, loops);
  loops.tile.push_back(steps[2]);
  sums.reorder(loops.around({steps[0], steps[1]})).unroll(steps[1]).tensorize(lane, "dot");
  sums.compute_at(choice.sums.total, blocks);
  if (choice.numbers.empty())
    prefetch_columns(sums, choice.constants, steps[0], columns * choice.group, bytes_ahead);
  else
    schedule_numbers(schedule, choice, steps[0], columns, bytes_ahead);

  Scheduled scheduled = with_epilogues(schedule, choice.sums.total, first, choice.sums.epilogues);
  scheduled.epilogues.insert(scheduled.epilogues.end(), {choice.sums.sums, choice.sums.total});
  if (!choice.numbers.empty()) scheduled.epilogues.push_back(choice.numbers);
  if (point.flag("parallel")) make_parallel(schedule, schedule[scheduled.outermost]);
  return scheduled;
}

}  // namespace

std::optional<Match> match_block_dots(const StageContext& context) {
  const auto choice = find_block_dots(context);
  if (!choice) return std::nullopt;
  TiledAxes axes = choice->sums.tiled_axes();
  axes.vector_registers = 1;
  axes.column_vectors = choice->in_byte;
  Match match;
  match.space.knobs = {block_tile_knob(axes, context.target, true)};
  if (!choice->constants.empty()) match.space.knobs.push_back(ahead_knob(axes, match.space.knobs[0].default_value()));
  match.space.knobs.push_back(for_threads(flag_knob("parallel", true)));
  match.apply = [choice = *choice](Schedule& schedule, const Point& point) {
    return schedule_block_dots(schedule, choice, point);
  };
  return match;
}

}  // namespace ferry::autoschedule
