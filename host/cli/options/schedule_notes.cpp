#include "host/cli/options/schedule_notes.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/lost_vectors.h"
#include "host/lower/lower.h"

#include <cstdio>

namespace ferry::cli {

void print_schedule_notes(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                          const Target& target) {
  for (std::size_t i = 0; i < programs.size(); ++i) {
    try {
      for (const std::string& loop : passes::lost_vectors(lower::lower(programs[i], schedules[i]), target))
        fprintf(stderr,
                "ferry: note: %s: the vectorized axis '%s' runs one element after the other on this target: its "
                "iterations depend on each other, or what is inside differs between them\n",
                programs[i].name.c_str(), loop.c_str());
    } catch (const CompileError&) {
      // Compilation reports this error.
    }
  }
}

}  // namespace ferry::cli
