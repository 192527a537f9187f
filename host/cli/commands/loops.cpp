#include "host/cli/commands/loops.h"

#include "base/quantity_text.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "host/cli/options/exit_code.h"
#include "host/lang/names.h"
#include "host/lower/lower.h"

namespace ferry::cli {

namespace {

constexpr const char* kAsLowered = "lower";

std::vector<std::string> pass_names() {
  std::vector<std::string> names = {kAsLowered};
  for (const passes::Pass& pass : passes::pipeline()) names.emplace_back(pass.name);
  return names;
}

}  // namespace

void add_after_option(CLI::App& command, std::string& after, const std::string& help) {
  command.add_option("--after", after, help)->type_name("PASS");
}

void expect_pass(const std::string& name) {
  const std::vector<std::string> names = pass_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw UsageError("there is no pass '" + name + "'; expected one of: " + join(", ", names) +
                   lang::suggestion(name, names));
}

std::string loops_text(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                       const Target& target, const std::string& after) {
  std::string text;
  for (ir::Function& function : lower::lower_module(programs, schedules)) {
    if (!text.empty()) text += "\n";
    if (after.empty()) {
      text += ir::to_text(passes::simplify(std::move(function)));
    } else if (after == kAsLowered) {
      text += ir::to_text(function);
    } else {
      passes::run_pipeline(std::move(function), target, [&](std::string_view pass, const ir::Function& now) {
        if (pass == after) text += ir::to_text(now);
      });
    }
  }
  return text;
}

}  // namespace ferry::cli
