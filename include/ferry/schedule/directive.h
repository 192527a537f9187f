// One step of a schedule as data: written in schedule files, printed, replayed and logged.
//
//     C: split y 32 -> yo yi        stage, primitive, its arguments
//     tile yi x 4 $tx in {16,32}    the stage of the line before; a knob with its choices
//     inline_injective              some primitives concern no single stage
//
// '#' begins a comment. docs/schedules.md lists the primitives.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::schedule {

struct Directive {
  std::string stage;  // empty: that of the previous directive, or for the first that of the last output
  std::string primitive;
  std::vector<std::string> args;
  std::size_t line = 0;   // line in its text; 0: not from a text
  std::string file = {};  // name of that text in messages; may be empty
};

// Returns "mm.schedule:3: " or, for a text without a name, "schedule, line 3: ".
std::string location_text(const std::string& file, std::size_t line);

// "C: split y 32 -> yo yi"
std::string to_text(const Directive& directive);

// A value that the schedule leaves open.
struct Knob {
  std::string name;
  std::vector<std::string> choices;
};
using KnobValues = std::map<std::string, std::string>;

struct DirectiveList {
  std::vector<Directive> directives;  // knobs as "$name"
  std::vector<Knob> knobs;            // in order of first occurrence
};

// Throws CompileError with the line number for a malformed directive. `first_line` is the number of the text's first
// line.
DirectiveList parse_directives(std::string_view text, const std::string& file = {}, std::size_t first_line = 1);
// Returns the directives with every knob replaced. Throws CompileError for a knob without a value, a value that is not
// among its choices, and a value for an unknown knob.
std::vector<Directive> bind_knobs(const DirectiveList& list, const KnobValues& values);

}  // namespace ferry::schedule
