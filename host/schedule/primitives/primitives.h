// The schedule primitives: each changes the stages if that is legal. A rejection is a CompileError from
// DirectiveArgs::fail(); after any exception Schedule::apply() restores what the primitive may change by its subject.
#pragma once

#include "host/schedule/stages/directive_args.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <span>

namespace ferry::schedule {

// The subject of a directive, written before the colon.
enum class Subject : std::uint8_t {
  stage,    // a stage; the primitive changes it alone, and may add another stage as its last step
  tensor,   // a stage or a parameter, whose readers change: without a stage of that name, `stage` is null
  program,  // nothing; `stage` is null, and any stage may change
};

struct Primitive {
  const char* name;
  const char* usage;
  Subject subject;
  void (*apply)(Stages& stages, ScheduledStage* stage, DirectiveArgs& args);
};

std::span<const Primitive> primitives();

#define FERRY_PRIMITIVE(name, subject, usage) void name(Stages& stages, ScheduledStage* stage, DirectiveArgs& args);
#include "host/schedule/primitives/primitives.def"
#undef FERRY_PRIMITIVE

}  // namespace ferry::schedule
