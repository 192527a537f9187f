// The schedule's view of the stages: their definitions, which primitives like cache_write and rfactor may rewrite,
// their loops, and where each is computed and stored. Directives change this; lowering reads it.
#pragma once

#include "crosscompile/ir/expr.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "host/lang/stage.h"
#include "host/schedule/stages/stage_loops.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ferry::schedule {

// A loop of a stage; with no stage, outside all loops.
struct Attachment {
  std::string stage;
  std::size_t loop = 0;
};

// One dimension of a tensor in memory: axis / divisor of one of its axes, modulo `modulus` unless that is 0.
struct LayoutPart {
  std::size_t axis = 0;
  std::int64_t divisor = 1, modulus = 0;
};
using Layout = std::vector<LayoutPart>;

// How a stage is computed.
enum class ComputeKind : std::uint8_t {
  root,      // in loops of its own, outside all others
  inlined,   // recomputed at every use
  attached,  // in every iteration of another stage's loop
};

struct ScheduledStage {
  std::string name;
  std::vector<ir::Axis> axes;
  std::vector<Expr> values;                              // as in lang::Stage
  std::vector<ir::BufferRef> outputs;                    // the tensor of each value
  std::shared_ptr<const lang::Sequence> sequence;        // as in lang::Stage
  std::vector<Expr> place;                               // as in lang::Sequence; empty: not a scatter
  std::string updated_by;                                // the scatter that takes over the tensor's storage
  bool is_result = false;                                // one of the outputs is a result of the kernel
  std::shared_ptr<const Context> context;                // the program's, or null
  std::string assertion;                                 // as in lang::Stage
  std::shared_ptr<const lang::ExternFunction> external;  // as in lang::Stage
  std::string extern_reader;                             // a C function that takes the whole tensor's address
  StageLoops loops;
  bool is_touched = false;      // by a directive on its loops
  bool joins_partials = false;  // it reduces another stage's partial results, in any order (rfactor)
  ComputeKind compute_kind = ComputeKind::root;
  Attachment compute_at;               // attached: the loop it is computed at
  std::optional<Attachment> store_at;  // attached: the loop further out that it is stored at
  std::optional<ir::Scope> scope;      // nothing: lowering chooses
  std::optional<Layout> layout;
  std::map<std::size_t, Expr> padded;  // by axis: the extent before `pad`; the elements past it are 0
  bool nontemporal = false;            // non-temporal stores
  bool swizzled = false;               // rows are swizzled in shared memory
  // Number of iterations whose parts are stored at once, all but one of them computed ahead; 1: no buffering.
  std::int64_t copies = 1;
  // By axis: rows along it start at multiples of factor elements, plus offset.
  struct Alignment {
    std::int64_t factor = 1, offset = 0;
  };
  std::map<std::size_t, Alignment> alignments;
  // The loops from this one inward are replaced by an intrinsic.
  struct Tensorized {
    std::size_t loop = 0;
    std::string intrinsic;
    std::shared_ptr<const Context> context;  // where it may be registered; may be null
  };
  std::optional<Tensorized> tensorized;
  // By loop: serial loops inside it with constant extents are unrolled up to this many copies of the body.
  std::map<std::size_t, std::int64_t> unroll_steps;
  struct Prefetch {
    std::size_t loop;
    ir::BufferRef tensor;
    std::int64_t offset;  // number of iterations ahead
    // The axis over rows, where the columns after those of a tile are prefetched instead, a line in each iteration.
    std::optional<std::size_t> rows = {};
  };
  std::vector<Prefetch> prefetches;

  bool is_scatter() const { return !place.empty(); }
  // Whether every element is required: by the caller, a check, a C function or updates of the tensor.
  bool is_final() const {
    return is_result || !assertion.empty() || external != nullptr || !extern_reader.empty() || is_scatter() ||
           !updated_by.empty();
  }
  // Returns all that reads tensors: the values, and where a scatter stores them.
  std::vector<Expr> expressions() const;
  const ir::Reduce* reduction() const { return values.front().as<ir::Reduce>(); }
};

// Returns one stage for each lang::Stage, with plain loops at the root. Duplicate names get a number.
Stages stages_of(const lang::Program& program);

// Returns the loops of the definition: one for each axis.
StageLoops plain_loops(const ScheduledStage& stage);

ScheduledStage* find_stage(Stages& stages, const std::string& name);
const ScheduledStage* find_stage(const Stages& stages, const std::string& name);
// Returns the stage that computes this tensor, or null for a parameter.
const ScheduledStage* producer_of(const Stages& stages, const ir::Buffer* tensor);
// Whether the stage's definition reads one of these tensors.
bool reads(const ScheduledStage& stage, const std::vector<ir::BufferRef>& tensors);
// Returns the stages that read the outputs of `stage`; inlined ones are replaced by their own readers.
std::vector<const ScheduledStage*> readers_of(const Stages& stages, const ScheduledStage& stage);
// Whether `stage` is computed inside that loop, directly or inside another stage that is; the loop's own stage counts.
bool is_within(const Stages& stages, const ScheduledStage& stage, const Attachment& loop);
// Returns a name that no stage has yet.
std::string free_name(const Stages& stages, const std::string& wanted);

}  // namespace ferry::schedule
