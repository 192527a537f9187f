// The schedule primitives: each checks that it is legal, then changes the stages. A rejection is a CompileError from
// DirectiveArgs::fail() and leaves the program's other stages unchanged.
#pragma once

#include "host/schedule/stages/directive_args.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <span>

namespace ferry::schedule {

// The subject of a directive, written before the colon.
enum class Subject : std::uint8_t {
  stage,    // a stage
  tensor,   // a stage or a parameter: without a stage of that name, `stage` is null
  program,  // nothing; `stage` is null
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
