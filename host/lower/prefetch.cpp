#include "host/lower/prefetch.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/memory/flatten.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace ferry::lower {

using namespace ir;

namespace {

constexpr std::int64_t kLineBytes = 64;
// Maximum number of prefetches for one load of the tensor.
constexpr std::size_t kMostLines = 32;

// Returns values of the loops: `loop` is `offset` iterations ahead, and those inside it are at their first iteration.
Substitution later_loops(const Nest& nest, std::size_t loop, std::int64_t offset) {
  Substitution loops;
  bool inside = false;
  for (std::size_t id : nest.loops.order()) {
    if (inside) loops[nest.loops.loop(id).var.get()] = Expr(0);
    if (id == loop) {
      loops[nest.loops.loop(id).var.get()] = nest.loops.loop(id).var + offset;
      inside = true;
    }
  }
  return loops;
}

std::vector<Expr> indices_at(const Nest& nest, const Load& load, const Substitution& loops) {
  Substitution axes;
  for (const schedule::StageLoops::AxisValue& axis : nest.axis_values)
    axes[axis.axis.get()] = substitute(axis.value, loops);
  std::vector<Expr> indices;
  for (const Expr& index : load.indices) indices.push_back(substitute(index, axes));
  return indices;
}

// Returns the storage of a computed tensor, or null for a parameter.
const Storage* stored_in(const Nests& nests, const Buffer* tensor) {
  for (const Nest& nest : nests)
    for (std::size_t i = 0; i < nest.stage->outputs.size() && i < nest.storage.size(); ++i)
      if (nest.stage->outputs[i].get() == tensor) return &nest.storage[i];
  return nullptr;
}

// A load of the tensor in the loops of a nest.
struct Access {
  const Nest& nest;
  const Load& load;
  const Storage* storage;

  // Returns the indices of what it reads in memory.
  std::vector<Expr> stored_at(const Substitution& loops) const {
    std::vector<Expr> indices = indices_at(nest, load, loops);
    return storage == nullptr ? indices : storage->indices(indices);
  }

  // Returns the position of what it reads in memory, in elements.
  Expr position(const Substitution& loops) const {
    return passes::linear_index(storage == nullptr ? *load.buffer : *storage->buffer, stored_at(loops));
  }
};

// Returns how many iterations of an inner loop read the same cache line: 1 when each reads a different one, all of them
// when the loop does not change the address.
// `first` is the position that is read in its first iteration.
std::int64_t iterations_a_line(const Access& access, const schedule::Loop& inner, std::int64_t extent,
                               Substitution loops, const Expr& first) {
  loops[inner.var.get()] = Expr(1);
  const Expr difference = passes::simplify(access.position(loops) - first);
  const std::int64_t* step = as_int(difference);
  if (step == nullptr) return 1;
  const std::int64_t moved = *step;
  if (moved == 0) return extent;
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_bytes(access.load.buffer->dtype));
  return moved > 0 && moved < kLineBytes / bytes ? kLineBytes / (moved * bytes) : 1;
}

// Adds the indices that an iteration reads, one for each cache line, as far as inner loops have constant extents.
void add_places(const Access& access, std::vector<std::size_t> inner, Substitution loops,
                std::vector<std::vector<Expr>>& places) {
  if (places.size() == kMostLines) return;
  if (inner.empty()) {
    places.push_back(indices_at(access.nest, access.load, loops));
    return;
  }
  const schedule::Loop& loop = access.nest.loops.loop(inner.back());
  inner.pop_back();
  const std::int64_t extent = as_int(loop.extent) == nullptr ? 1 : *as_int(loop.extent);
  const std::int64_t step = extent > 1 ? iterations_a_line(access, loop, extent, loops, access.position(loops)) : 1;
  for (std::int64_t i = 0; i < extent && places.size() < kMostLines; i += step) {
    loops[loop.var.get()] = Expr(i);
    add_places(access, inner, loops, places);
  }
}

std::vector<std::vector<Expr>> places_read(const Access& access, std::size_t loop, std::int64_t offset) {
  const std::vector<std::size_t>& order = access.nest.loops.order();
  const auto at = std::find(order.begin(), order.end(), loop);
  // Accesses of the innermost loop are adjacent in memory, so that loop is enumerated last.
  std::vector<std::size_t> inner(std::make_reverse_iterator(order.end()), std::make_reverse_iterator(at + 1));
  std::vector<std::vector<Expr>> places;
  add_places(access, std::move(inner), later_loops(access.nest, loop, offset), places);
  return places;
}

// Returns how far apart an axis's values are in the first and the last iteration of the loops inside `loop`, plus 1;
// nothing if that is not a constant.
std::optional<std::int64_t> tile_extent(const Nest& nest, std::size_t loop, const Expr& value,
                                        const Substitution& first) {
  Substitution last;
  bool is_inside = false;
  for (const std::size_t id : nest.loops.order()) {
    if (is_inside) last[nest.loops.loop(id).var.get()] = nest.loops.loop(id).extent - 1;
    is_inside |= id == loop;
  }
  const Expr extent = passes::simplify(substitute(value, last) - substitute(value, first) + 1);
  return as_int(extent) == nullptr ? std::nullopt : std::optional(*as_int(extent));
}

// Returns the cache line of the next columns that an iteration prefetches: the lines of a block of columns, of which
// each step of the sum reads `lines`, are numbered in the order of memory, and a tile of rows prefetches as many as
// there are steps; those after the last quarter, say, the same ones again. Nothing if columns are not contiguous, or
// tiles not constant.
std::optional<std::vector<Expr>> place_in_next(const Nest& nest, const Load& load, std::size_t loop, std::size_t rows) {
  const Axis& depth = nest.reduction()->axes[0];
  const Substitution first = later_loops(nest, loop, 0);
  const std::vector<Axis> axes = nest.all_axes();
  const auto& values = nest.axis_values;
  std::optional<std::size_t> column;
  for (std::size_t a = 0; a + 1 < axes.size(); ++a)
    if (a != rows && std::ranges::any_of(load.indices, [&](const Expr& index) { return index.same_as(axes[a].var); }))
      column = a;
  if (!column) return std::nullopt;
  const auto tile_rows = tile_extent(nest, loop, values[rows].value, first);
  const auto columns = tile_extent(nest, loop, values[*column].value, first);
  const auto in_line = kLineBytes / static_cast<std::int64_t>(dtype_bytes(load.buffer->dtype));
  if (!tile_rows || !columns || *columns % in_line != 0) return std::nullopt;
  const Expr lines = *columns / in_line;
  const Expr tile = min(substitute(values[rows].value, first) / Expr(*tile_rows), lines - 1);
  const Expr line = tile * depth.extent + substitute(values.back().value, first);
  Substitution place;
  for (std::size_t a = 0; a < axes.size(); ++a) place[axes[a].var.get()] = substitute(values[a].value, first);
  place[depth.var.get()] = passes::simplify(line / lines);
  place[axes[*column].var.get()] =
      passes::simplify(substitute(values[*column].value, first) + *columns + line % lines * Expr(in_line));
  std::vector<Expr> indices;
  for (const Expr& index : load.indices) indices.push_back(substitute(index, place));
  return indices;
}

// An axis of the columns that tiles share out, and how many of its elements one has.
struct ColumnTiles {
  std::size_t axis = 0;
  std::int64_t extent = 1;
};

std::optional<ColumnTiles> column_tiles(const Access& access, std::size_t loop, std::size_t rows,
                                        const Substitution& first) {
  const std::vector<Axis>& axes = access.nest.stage->axes;
  const auto& values = access.nest.axis_values;
  std::optional<ColumnTiles> found;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (a == rows ||
        std::ranges::none_of(access.load.indices, [&](const Expr& index) { return index.same_as(axes[a].var); }))
      continue;
    const auto extent = tile_extent(access.nest, loop, values[a].value, first);
    if (extent && !is_constant(axes[a].extent, *extent)) found = ColumnTiles{a, *extent};
  }
  return found;
}

// A loop over the cache lines that an iteration reads: the number of its iterations that read others, and how far apart
// these are.
struct LineLoop {
  Expr var;
  std::int64_t lines = 1, step = 1;
};

// Returns the loops over lines inside of a loop; nothing if their extents are not constant.
std::optional<std::vector<LineLoop>> line_loops(const Access& access, std::size_t loop, const Substitution& first) {
  std::vector<LineLoop> found;
  const Expr position = access.position(first);
  const std::vector<std::size_t>& order = access.nest.loops.order();
  for (auto id = std::find(order.begin(), order.end(), loop) + 1; id != order.end(); ++id) {
    const schedule::Loop& inner = access.nest.loops.loop(*id);
    const std::int64_t* extent = as_int(inner.extent);
    if (extent == nullptr) return std::nullopt;
    const std::int64_t step = *extent > 1 ? iterations_a_line(access, inner, *extent, first, position) : 1;
    if (*extent > step) found.push_back({inner.var, (*extent + step - 1) / step, step});
  }
  return found;
}

// Returns the cache lines that an iteration prefetches of those that the same step of a sum over several axes reads of
// the next columns: each of the tiles of rows that read the same columns takes an equal share of them. Nothing if tiles
// are not constant.
std::vector<std::vector<Expr>> share_of_next(const Access& access, std::size_t loop, std::size_t rows) {
  const Nest& nest = access.nest;
  const auto& values = nest.axis_values;
  Substitution loops = later_loops(nest, loop, 0);
  const auto tile_rows = tile_extent(nest, loop, values[rows].value, loops);
  const std::int64_t* all_rows = as_int(nest.stage->axes[rows].extent);
  const auto columns = column_tiles(access, loop, rows, loops);
  const auto inner = line_loops(access, loop, loops);
  if (!tile_rows || all_rows == nullptr || !columns || !inner) return {};
  std::int64_t lines = 1;
  for (const LineLoop& each : *inner) lines *= each.lines;
  const std::int64_t tiles = (*all_rows + *tile_rows - 1) / *tile_rows, share = (lines + tiles - 1) / tiles;
  if (share > static_cast<std::int64_t>(kMostLines)) return {};
  const Expr tile = substitute(values[rows].value, loops) / Expr(*tile_rows);
  const std::vector<Axis> axes = nest.all_axes();
  std::vector<std::vector<Expr>> places;
  for (std::int64_t i = 0; i < share; ++i) {
    // Lines are numbered in the order of the loops.
    Expr line = min(tile * Expr(share) + Expr(i), Expr(lines - 1));
    for (auto each = inner->rbegin(); each != inner->rend(); ++each) {
      loops[each->var.as<Var>()] = passes::simplify(line % Expr(each->lines) * Expr(each->step));
      line = line / Expr(each->lines);
    }
    Substitution place;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const Expr value = substitute(values[a].value, loops);
      place[axes[a].var.get()] = a == columns->axis ? value + Expr(columns->extent) : value;
    }
    std::vector<Expr> indices;
    for (const Expr& index : access.load.indices) indices.push_back(substitute(index, place));
    places.push_back(std::move(indices));
  }
  return places;
}

bool same_place(const Expr& a, const Expr& b) {
  const auto& left = a.as<Load>()->indices;
  const auto& right = b.as<Load>()->indices;
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Expr& x, const Expr& y) { return equal(x, y); });
}

}  // namespace

Stmt with_prefetches(const Nests& nests, const Nest& nest, std::size_t loop, Stmt body) {
  std::vector<Stmt> steps;
  for (const schedule::ScheduledStage::Prefetch& wanted : nest.stage->prefetches) {
    if (wanted.loop != loop) continue;
    const Storage* storage = stored_in(nests, wanted.tensor.get());
    std::vector<Expr> asked;
    for (const Expr& value : nest.values)
      for (const Load* load : analysis::loads_of(value)) {
        if (load->buffer != wanted.tensor) continue;
        // An inlined stage may make the indices of the tensor depend on another tensor.
        if (std::any_of(load->indices.begin(), load->indices.end(),
                        [](const Expr& index) { return !analysis::loads_of(index).empty(); }))
          continue;
        std::vector<std::vector<Expr>> places;
        if (!wanted.rows)
          places = places_read({nest, *load, storage}, loop, wanted.offset);
        else if (nest.reduction()->axes.size() > 1)
          places = share_of_next({nest, *load, storage}, loop, *wanted.rows);
        else if (auto next = place_in_next(nest, *load, loop, *wanted.rows))
          places = {*std::move(next)};
        for (std::vector<Expr>& indices : places) {
          const Expr place = Load::make(load->buffer, std::move(indices));
          if (std::any_of(asked.begin(), asked.end(), [&](const Expr& other) { return same_place(other, place); }))
            continue;
          asked.push_back(place);
          steps.push_back(make_prefetch(place));
        }
      }
  }
  if (steps.empty()) return body;
  steps.push_back(std::move(body));
  return Block::make(std::move(steps));
}

}  // namespace ferry::lower
