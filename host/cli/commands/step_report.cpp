// Reports the steps of one call, as text and as JSON.
#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/output/columns.h"
#include "host/stats/summary.h"

#include <algorithm>

namespace ferry::cli {

namespace {

// Returns "16x16"; trailing extents of 1 are omitted.
std::string extents_text(const std::array<std::uint64_t, 3>& extents) {
  std::string text = std::to_string(extents[0]);
  if (extents[1] != 1 || extents[2] != 1) text += "x" + std::to_string(extents[1]);
  if (extents[2] != 1) text += "x" + std::to_string(extents[2]);
  return text;
}

// Returns the user's name of the function; kernels after the first have a number appended.
std::string kernel_text(const StepTime& step) {
  if (step.kind == StepKind::copy) return "(copy)";
  if (step.kind == StepKind::fill) return "(fill)";
  const std::string& symbol = step.kernel;
  constexpr std::string_view kPrefix = "ferry_fn_";
  return symbol.starts_with(kPrefix) ? symbol.substr(kPrefix.size()) : symbol;
}

const char* kind_name(StepKind kind) {
  switch (kind) {
    case StepKind::call: return "call";
    case StepKind::launch: return "launch";
    case StepKind::copy: return "copy";
    case StepKind::fill: return "fill";
  }
  return "";
}

double total(const std::vector<StepTime>& steps) {
  double all = 0;
  for (const StepTime& step : steps) all += stats::median(step.seconds);
  return all;
}

}  // namespace

void print_steps(const std::vector<StepTime>& steps) {
  // The time of the only call is that of the whole.
  if (steps.empty() || (steps.size() == 1 && steps.front().kind == StepKind::call)) return;
  const double all = total(steps);
  std::vector<std::vector<std::string>> rows = {{"kernel", "median", "share", "grid", "block", "shared", "registers"}};
  const bool has_nodes =
      std::any_of(steps.begin(), steps.end(), [](const StepTime& step) { return !step.node.empty(); });
  if (has_nodes) rows[0].insert(rows[0].begin(), "node");
  for (const StepTime& step : steps) {
    const bool is_launch = step.kind == StepKind::launch;
    rows.push_back({kernel_text(step), seconds_text(stats::median(step.seconds)),
                    all > 0 ? percent_text(stats::median(step.seconds) / all) : "",
                    is_launch ? extents_text(step.grid) : "-", is_launch ? extents_text(step.block) : "-",
                    step.shared_bytes == 0 ? "-" : bytes_text(step.shared_bytes),
                    step.registers == 0 ? "-" : std::to_string(step.registers)});
    if (has_nodes) rows.back().insert(rows.back().begin(), printable(step.node));
  }
  print_columns(rows, "  ");
}

Json steps_json(const std::vector<StepTime>& steps) {
  const double all = total(steps);
  Json list = Json::array();
  for (const StepTime& step : steps) {
    list.push_back({{"kind", kind_name(step.kind)},
                    {"kernel", step.kernel},
                    {"node", step.node.empty() ? Json(nullptr) : Json(printable(step.node))},
                    {"grid", step.grid},
                    {"block", step.block},
                    {"shared_bytes", step.shared_bytes},
                    {"registers", step.registers == 0 ? Json(nullptr) : Json(step.registers)},
                    {"seconds", step.seconds},
                    {"median_seconds", stats::median(step.seconds)},
                    {"share", all > 0 ? Json(stats::median(step.seconds) / all) : Json(nullptr)}});
  }
  return list;
}

}  // namespace ferry::cli
