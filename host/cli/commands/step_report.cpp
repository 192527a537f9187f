// Reports the steps of one call, as text and as JSON.
#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/commands/bench_report.h"
#include "host/kernel/node_names.h"
#include "host/stats/summary.h"
#include "host/text/columns.h"

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

// Returns "f32[1,64,56,56]".
std::string result_text(const StepTime& step) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : step.shape) sizes.push_back(std::to_string(size));
  return std::string(dtype_name(step.dtype)) + "[" + join(",", sizes) + "]";
}

// Returns the columns that have an entry below their name; "-" stands for the entries that they lack.
text::Rows without_empty_columns(const text::Rows& rows) {
  text::Rows kept(rows.size());
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    const bool is_empty =
        std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[column].empty(); });
    for (std::size_t r = 0; r < rows.size() && !is_empty; ++r)
      kept[r].push_back(rows[r][column].empty() ? "-" : rows[r][column]);
  }
  return kept;
}

}  // namespace

void print_steps(const std::vector<StepTime>& steps, const bench::Peak& peak) {
  // The time of the only call is that of the whole.
  if (steps.empty() || (steps.size() == 1 && steps.front().kind == StepKind::call)) return;
  const double all = total(steps);
  text::Rows rows = {{"node", "kernel", "device", "result", "median", "share", "speed", "of peak", "traffic", "rate",
                      "of copy", "grid", "block", "shared", "registers"}};
  for (const StepTime& step : steps) {
    const bool is_launch = step.kind == StepKind::launch;
    const double seconds = stats::median(step.seconds);
    const double flops = seconds > 0 ? step.flops / seconds : 0, bytes = seconds > 0 ? step.bytes / seconds : 0;
    // The peaks are those of the first device.
    const bench::Peak reached = step.device == 0 ? peak : bench::Peak{};
    const auto share = [](double part, double whole) {
      return part > 0 && whole > 0 ? percent_text(part / whole) : std::string();
    };
    rows.push_back({printable(short_node_name(step.node)), kernel_text(step), printable(step.device_name),
                    step.node.empty() ? "" : result_text(step), seconds_text(seconds), share(seconds, all),
                    flops > 0 ? rate_text(flops, "FLOP/s") : "", share(flops, reached.flops),
                    bytes > 0 ? bytes_text(static_cast<std::uint64_t>(step.bytes)) : "",
                    bytes > 0 ? rate_text(bytes, "B/s") : "", share(bytes, reached.bytes),
                    is_launch ? extents_text(step.grid) : "", is_launch ? extents_text(step.block) : "",
                    step.shared_bytes == 0 ? "" : bytes_text(step.shared_bytes),
                    step.registers == 0 ? "" : std::to_string(step.registers)});
  }
  text::print_columns(without_empty_columns(rows), "  ");
}

text::Json steps_json(const std::vector<StepTime>& steps) {
  const double all = total(steps);
  const auto known = [](double number) { return number > 0 ? text::Json(number) : text::Json(nullptr); };
  text::Json list = text::Json::array();
  for (const StepTime& step : steps) {
    const bool is_described = !step.node.empty();
    list.push_back(
        {{"kind", kind_name(step.kind)},
         {"kernel", step.kernel},
         {"node", is_described ? text::Json(printable(step.node)) : text::Json(nullptr)},
         {"device", step.device_name.empty() ? text::Json(nullptr) : text::Json(printable(step.device_name))},
         {"dtype", is_described ? text::Json(dtype_name(step.dtype)) : text::Json(nullptr)},
         {"shape", is_described ? text::Json(step.shape) : text::Json(nullptr)},
         {"flops", known(step.flops)},
         {"bytes", known(step.bytes)},
         {"grid", step.grid},
         {"block", step.block},
         {"shared_bytes", step.shared_bytes},
         {"registers", step.registers == 0 ? text::Json(nullptr) : text::Json(step.registers)},
         {"seconds", step.seconds},
         {"median_seconds", stats::median(step.seconds)},
         {"share", all > 0 ? text::Json(stats::median(step.seconds) / all) : text::Json(nullptr)}});
  }
  return list;
}

}  // namespace ferry::cli
