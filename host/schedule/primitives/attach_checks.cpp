#include "host/schedule/primitives/attach_checks.h"

#include "host/lang/stage.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

// Whether `reader` depends on `stage`, directly or through other stages.
bool is_read_through(const Stages& stages, const ScheduledStage& stage, const ScheduledStage& reader) {
  std::vector<const ScheduledStage*> reached = {&stage};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const ScheduledStage* next : readers_of(stages, *reached[i])) {
      if (next == &reader) return true;
      if (std::find(reached.begin(), reached.end(), next) == reached.end()) reached.push_back(next);
    }
  }
  return false;
}

}  // namespace

void expect_intermediate(const ScheduledStage& stage, const DirectiveArgs& args) {
  if (stage.is_result)
    args.fail("an intermediate tensor", "'" + stage.name + "', a result, of which the caller wants every element");
  expect_attachable(stage, args);
}

void expect_own_storage(const ScheduledStage& stage, const DirectiveArgs& args) {
  if (stage.is_scatter())
    args.fail("a tensor whose elements are each computed once", "'" + stage.name + "', which updates elements");
  if (!stage.updated_by.empty())
    args.fail("a tensor of its own", "'" + stage.name + "', whose storage '" + stage.updated_by + "' takes over");
}

void expect_attachable(const ScheduledStage& stage, const DirectiveArgs& args) {
  expect_own_storage(stage, args);
  if (!stage.assertion.empty())
    args.fail("an intermediate tensor", "'" + stage.name + "', which is checked before anything uses it");
  if (!stage.extern_reader.empty())
    args.fail("an intermediate tensor",
              "'" + stage.name + "', which the C function '" + stage.extern_reader + "' needs as a whole");
}

Attachment read_attachment(const Stages& stages, const ScheduledStage& stage, DirectiveArgs& args) {
  const ScheduledStage& at = args.stage();
  if (at.external != nullptr)
    args.fail("a stage with loops", "'" + at.name + "', which the C function '" + at.external->name + "' computes");
  if (&at == &stage) args.fail("another stage", "'" + stage.name + "' itself");
  if (at.compute_kind == ComputeKind::inlined)
    args.fail("a stage with loops", "'" + at.name + "', which is computed inline");
  const Attachment place{at.name, args.axis(at)};
  const bool may_move = is_read_through(stages, stage, at);
  for (const ScheduledStage* reader : readers_of(stages, stage))
    if (!is_within(stages, *reader, place) && (reader->is_final() || !may_move))
      args.fail("a loop that holds every use of '" + stage.name + "'", "'" + at.loops.loop(place.loop).name + "' of '" +
                                                                           at.name + "', but '" + reader->name +
                                                                           "' reads it elsewhere");
  if (readers_of(stages, stage).empty()) args.fail("a stage that something reads", "'" + stage.name + "'");
  return place;
}

}  // namespace ferry::schedule
