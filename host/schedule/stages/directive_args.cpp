#include "host/schedule/stages/directive_args.h"

#include "crosscompile/ir/error.h"
#include "host/lang/names.h"

#include <algorithm>
#include <charconv>

namespace ferry::schedule {

namespace {

std::vector<std::string> loop_names(const ScheduledStage& stage) {
  std::vector<std::string> names;
  for (std::size_t id : stage.loops.order()) names.push_back(stage.loops.loop(id).name);
  return names;
}

std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + ("'" + names[i] + "'");
  return text;
}

}  // namespace

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

std::string axis_names(const ScheduledStage& stage) { return quoted(loop_names(stage)); }

void DirectiveArgs::fail(const std::string& what) const {
  constexpr std::size_t kShown = 200;
  const std::string line = directive_.line == 0 ? "" : location_text(directive_.file, directive_.line);
  std::string text = to_text(directive_);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  throw CompileError(line + text + ": " + what, {directive_.file, directive_.line});
}

void DirectiveArgs::fail(const std::string& expected, const std::string& got) const {
  fail("expected " + expected + ", got " + got);
}

bool DirectiveArgs::accept(const std::string& word) {
  if (!is_next(word)) return false;
  ++next_;
  return true;
}

void DirectiveArgs::expect(const std::string& word) {
  if (!accept(word)) fail("'" + word + "'", at_end() ? "nothing" : "'" + directive_.args[next_] + "'");
}

void DirectiveArgs::end() const {
  if (!at_end())
    fail("nothing more",
         "'" + directive_.args[next_] + "'" + (usage_.empty() ? "" : "; usage: " + std::string(usage_)));
}

std::string DirectiveArgs::name(const std::string& what) {
  if (at_end()) fail(what, std::string("nothing") + (usage_.empty() ? "" : "; usage: " + std::string(usage_)));
  return directive_.args[next_++];
}

std::string DirectiveArgs::new_name(const std::string& what) {
  std::string word = name("a name for the new " + what);
  try {
    lang::check_name(word, ("the new " + what).c_str());
  } catch (const CompileError& error) {
    fail(error.what());
  }
  return word;
}

std::int64_t DirectiveArgs::integer(const std::string& what) {
  const std::string word = name(what);
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || rest != word.data() + word.size()) fail(what, "'" + word + "'");
  return value;
}

std::int64_t DirectiveArgs::positive(const std::string& what) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const std::int64_t value = integer(what);
  if (value < 1) fail(what + " of at least 1", std::to_string(value));
  if (value > kMost) fail(what + " of at most " + std::to_string(kMost), std::to_string(value));
  return value;
}

std::size_t DirectiveArgs::axis(const ScheduledStage& stage) {
  if (!at_end())
    if (const auto found = stage.loops.find(directive_.args[next_]); found && stage.loops.is_in_order(*found)) {
      ++next_;
      return *found;
    }
  const std::string expected = "an axis of '" + stage.name + "' (" + axis_names(stage) + ")";
  const std::string word = name(expected);
  if (const auto found = stage.loops.find(word)) {
    std::vector<std::string> names;
    for (std::size_t id : stage.loops.replacements(*found)) names.push_back(stage.loops.loop(id).name);
    fail(expected,
         "'" + word + "', whose place " + alternatives(names) + (names.size() == 1 ? " has" : " have") + " taken");
  }
  for (const ScheduledStage& other : stages_)
    if (&other != &stage && other.loops.find(word))
      fail(expected, "'" + word + "', which is an axis of '" + other.name + "'");
  fail(expected, "'" + word + "'" + lang::suggestion(word, loop_names(stage)));
}

std::vector<std::size_t> DirectiveArgs::axes(const ScheduledStage& stage) {
  std::vector<std::size_t> result = {axis(stage)};
  while (!at_end() && !is_next("->")) {
    result.push_back(axis(stage));
    if (std::find(result.begin(), result.end() - 1, result.back()) != result.end() - 1)
      fail("each axis once", "'" + stage.loops.loop(result.back()).name + "' again");
  }
  return result;
}

const ScheduledStage& DirectiveArgs::stage() {
  const std::string word = name("a stage");
  if (const ScheduledStage* found = find_stage(stages_, word)) return *found;
  std::vector<std::string> names;
  for (const ScheduledStage& stage : stages_) names.push_back(stage.name);
  fail("a stage (" + quoted(names) + ")", "'" + word + "'" + lang::suggestion(word, names));
}

std::vector<std::string> DirectiveArgs::new_axes(const ScheduledStage& stage, std::size_t count) {
  std::vector<std::string> names(count);
  if (!accept("->")) return names;
  for (std::string& name : names) {
    name = new_name("axis");
    if (stage.loops.find(name)) fail("a new name", "'" + name + "', which is an axis of '" + stage.name + "' already");
  }
  for (std::size_t i = 0; i < count; ++i)
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      fail("different names", "'" + names[i] + "' twice");
  return names;
}

std::string DirectiveArgs::new_stage(const std::string& wanted) {
  if (!accept("->")) return free_name(stages_, wanted);
  std::string name = new_name("stage");
  if (find_stage(stages_, name) != nullptr) fail("a new name", "'" + name + "', which is a stage already");
  return name;
}

ir::Scope DirectiveArgs::scope() {
  const std::string expected = "a scope (global, shared, local or register)";
  const std::string word = name(expected);
  if (word == "global") return ir::Scope::global;
  if (word == "local" || word == "register") return ir::Scope::local;
  if (word == "shared") return ir::Scope::shared;
  fail(expected, "'" + word + "'");
}

}  // namespace ferry::schedule
