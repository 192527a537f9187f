#include "host/autoschedule/fused_window.h"

#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/blocked_contraction.h"
#include "host/autoschedule/blocked_window.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::ComputeKind;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;
using schedule::Stages;

namespace {

// Axes of an image: one over images, blocks of channels, rows, pixels, and channels of a block.
enum ImageAxis : std::size_t { kImages, kBlocks, kRows, kPixels, kChannels, kAxes };

// The share of the second-level cache that a block of the image takes. The rows that it is computed from take about as
// much, and are read again for each block of channels.
constexpr std::int64_t kShareOfCache = 4;

// Returns the tensor's load whose element has the same image and channel as that of the stage, if all are such.
const Load* load_by_channel(const ScheduledStage& stage, const Expr& value) {
  const Load* found = nullptr;
  for (const Load* load : loads_of(value)) {
    if (load->indices.size() != kAxes || stage.axes.size() != kAxes) continue;
    for (const std::size_t axis : {kImages, kBlocks, kChannels})
      if (!load->indices[axis].same_as(stage.axes[axis].var)) return nullptr;
    if (found != nullptr && found->buffer != load->buffer) return nullptr;
    found = load;
  }
  return found;
}

// Returns the stage whose tensor the window slides over, through a border that is inlined. It is read nowhere else.
const ScheduledStage* image_of(const Stages& stages, const ScheduledStage& window) {
  const Load* load = load_by_channel(window, window.reduction()->sources[0]);
  const ScheduledStage* image = load == nullptr ? nullptr : producer_of(stages, load->buffer.get());
  if (image != nullptr && image->compute_kind == ComputeKind::inlined && image->values.size() == 1) {
    load = load_by_channel(*image, image->values[0]);
    image = load == nullptr ? nullptr : producer_of(stages, load->buffer.get());
  }
  if (image == nullptr || image->compute_kind != ComputeKind::root || image->is_final() ||
      image->axes.size() != kAxes || readers_of(stages, *image) != std::vector{&window})
    return nullptr;
  return image;
}

// A window and what computes its image.
struct FusedStages {
  std::string contraction;
  std::vector<std::string> image_epilogues;  // the last one's tensor is the image; none: the contraction's
  std::string window;
  std::vector<std::string> epilogues;
};

std::optional<FusedStages> find_fused_stages(const Stages& stages, const ScheduledStage& window) {
  if (!is_blocked_window(window) || window.axes.size() != kAxes || window.compute_kind != ComputeKind::root)
    return std::nullopt;
  const ScheduledStage* image = image_of(stages, window);
  if (image == nullptr) return std::nullopt;
  for (const ScheduledStage& stage : stages) {
    if (stage.reduction() == nullptr || stage.compute_kind != ComputeKind::root) continue;
    std::vector<std::string> epilogues = epilogue_stages(stages, stage, "");
    if ((epilogues.empty() ? stage.name : epilogues.back()) != image->name) continue;
    return FusedStages{stage.name, std::move(epilogues), window.name, epilogue_stages(stages, window, "")};
  }
  return std::nullopt;
}

StageContext context_of(const StageContext& window, const std::string& stage,
                        const std::vector<std::string>& epilogues) {
  return {.schedule = window.schedule,
          .stage = *find_stage(window.schedule.stages(), stage),
          .target = window.target,
          .constants = window.constants,
          .epilogues = epilogues,
          .at_any_size = window.at_any_size};
}

const SpaceKnob* find_knob(const Space& space, const std::string& name) {
  const auto found = std::ranges::find(space.knobs, name, &SpaceKnob::name);
  return found == space.knobs.end() ? nullptr : &*found;
}

// Returns the default point with other values for those of the knobs that the space has.
Point point_with(const Space& space, const std::map<std::string, KnobValue>& values) {
  std::map<std::string, KnobValue> all = space.default_point().values();
  for (const auto& [name, value] : values)
    if (const auto knob = all.find(name); knob != all.end()) knob->second = value;
  return Point(std::move(all));
}

// Returns the size of these axes of the stage's tensor.
std::int64_t bytes_of(const ScheduledStage& stage, std::initializer_list<std::size_t> axes) {
  auto bytes = static_cast<std::int64_t>(dtype_bytes(stage.outputs[0]->dtype));
  for (const std::size_t axis : axes) bytes *= constant_extent(stage.axes[axis].extent);
  return bytes;
}

// Returns the rows of results for which a block of the image takes its share of the cache, so that blocks are equal.
std::int64_t default_rows(const ScheduledStage& window, const ScheduledStage& image, std::int64_t blocks,
                          const Target& target) {
  const std::int64_t row_bytes = blocks * bytes_of(image, {kPixels, kChannels});
  const std::int64_t all = constant_extent(window.axes[kRows].extent);
  const std::int64_t stride = std::max<std::int64_t>(constant_extent(image.axes[kRows].extent) / all, 1);
  const std::int64_t most = std::max<std::int64_t>(l2_bytes(target) / kShareOfCache / (row_bytes * stride), 1);
  const std::int64_t count = (all + most - 1) / most;
  return (all + count - 1) / count;
}

// Returns the largest of the tiles that divide so many blocks of channels.
const KnobValue& largest_divisor(const SpaceKnob& tiles, std::int64_t blocks) {
  const auto size = [&](const KnobValue& tile) { return blocks % tile[1] == 0 ? tile[0] * tile[1] : 0; };
  return *std::ranges::max_element(tiles.candidates, {}, size);
}

// Splits the window's rows and channels into blocks, makes them parallel, and computes the image in them.
void compute_image_in(Schedule& schedule, const std::string& around, const std::string& image, std::int64_t rows,
                      std::int64_t blocks) {
  StageHandle handle = schedule[around];
  const auto name_of = [&](std::size_t axis) {
    const StageLoops& loops = stage_of(schedule, handle).loops;
    return loops.loop(loops.spatial(axis)).name;
  };
  const std::vector<std::string> before = names_in_order(stage_of(schedule, handle).loops);
  const std::string images = name_of(kImages), row = name_of(kRows), channels = name_of(kBlocks);
  const auto [outer_rows, inner_rows] = handle.split(row, rows);
  const auto [outer_channels, inner_channels] = handle.split(channels, blocks);
  std::vector<std::string> order = {images, outer_rows, outer_channels, inner_channels, inner_rows};
  for (const std::string& name : before)
    if (name != images && name != row && name != channels) order.push_back(name);
  const std::string fused = fuse_all(handle.reorder(order), {images, outer_rows, outer_channels});
  handle.parallel(fused);
  schedule[image].compute_at(around, fused);
}

}  // namespace

bool wants_fused_window(std::int64_t image_bytes, const Target& target) {
  return image_bytes > l2_bytes(target) / kShareOfCache;
}

std::optional<Match> match_fused_window(const StageContext& context) {
  if (context.outer != 0) return std::nullopt;
  const auto stages = find_fused_stages(context.schedule.stages(), context.stage);
  if (!stages || has_open_image(context.stage, context.at_any_size)) return std::nullopt;
  const StageContext image_context = context_of(context, stages->contraction, stages->image_epilogues);
  const auto contraction = match_blocked_contraction(image_context);
  const auto window = match_blocked_window(context_of(context, stages->window, stages->epilogues));
  if (!contraction || !window) return std::nullopt;
  SpaceKnob tile = *find_knob(contraction->space, "tile");
  const SpaceKnob depth = *find_knob(contraction->space, "depth_block");
  // Sums in blocks of the depth have no epilogues.
  if (depth.default_value() != depth.candidates.back()) return std::nullopt;
  const ScheduledStage& image = image_context.stage;
  if (has_open_extent(image_context.stage_at_any_size(), {kBlocks, kRows, kPixels, kChannels})) return std::nullopt;
  const std::int64_t blocks = constant_extent(image.axes[kBlocks].extent);
  std::int64_t rows = default_rows(context.stage, image, tile.default_value()[1], context.target);
  // A block that lacks rows and channels would test both for each tile.
  if (rows < constant_extent(context.stage.axes[kRows].extent) && blocks % tile.default_value()[1] != 0) {
    tile = tile_knob(tile.name, tile.parts, tile.candidates, largest_divisor(tile, blocks));
    rows = default_rows(context.stage, image, tile.default_value()[1], context.target);
  }
  const std::int64_t bytes = bytes_of(image, {kBlocks, kRows, kPixels, kChannels});
  // Stages of their own have knobs of their own.
  SpaceKnob pixels = *find_knob(window->space, "pixels");
  pixels.name = "window_pixels";
  Match match;
  match.space.knobs = {number_knob("rows", KnobKind::tile, {0, 1, 2, 4, 7, 8, 14, 16, 28, 32, 56, rows},
                                   wants_fused_window(bytes, context.target) ? rows : 0),
                       tile, pixels};
  match.apply = [stages = *stages, contraction = *contraction, window = *window](Schedule& schedule,
                                                                                 const Point& point) {
    if (point.number("rows") == 0) return Scheduled{};
    const Scheduled before = contraction.apply(schedule, point_with(contraction.space, {{"tile", point["tile"]},
                                                                                        {"order", {1}},
                                                                                        {"parallel", {0}},
                                                                                        {"ahead", {0}},
                                                                                        {"next_panel", {0}},
                                                                                        {"pack_rows", {0}}}));
    const Scheduled results =
        window.apply(schedule, point_with(window.space, {{"pixels", point["window_pixels"]}, {"order", {0}}}));
    compute_image_in(schedule, results.outermost,
                     stages.image_epilogues.empty() ? stages.contraction : stages.image_epilogues.back(),
                     point.number("rows"), point["tile"][1]);
    Scheduled all{.epilogues = before.epilogues};
    all.epilogues.insert(all.epilogues.end(), results.epilogues.begin(), results.epilogues.end());
    all.epilogues.insert(all.epilogues.end(), {stages.contraction, stages.window});
    return all;
  };
  return match;
}

}  // namespace ferry::autoschedule
