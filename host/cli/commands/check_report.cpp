#include "host/cli/commands/check_report.h"

#include <cstdio>
#include <optional>

#include "base/quantity_text.h"
#include "host/kernel/node_names.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

std::string tolerance_text(double value) {
  char text[32];
  snprintf(text, sizeof text, "%g", value);
  return text;
}

// Returns "; NaN: 3 computed, 3 expected"; empty if there are none.
std::string nan_text(std::uint64_t first, std::uint64_t second, const std::string& one, const std::string& other) {
  if (first == 0 && second == 0) return "";
  return "; NaN: " + count_text(first) + " " + one + ", " + count_text(second) + " " + other;
}

// Returns "fine: all 12 elements", "3 of 12 elements wrong", "fine: a random sample of 1,000 of 5,000 elements".
std::string verdict_text(std::uint64_t wrong, std::uint64_t compared, std::uint64_t elements, const char* what) {
  if (wrong > 0)
    return text::painted(stdout, text::Color::red,
                         count_text(wrong) + " of " + count_text(compared) + " elements " + what);
  const std::string fine = text::painted(stdout, text::Color::green, "fine") + ": ";
  if (compared < elements)
    return fine + "a random sample of " + count_text(compared) + " of " + count_text(elements) + " elements";
  return fine + (elements == 1 ? "the only element" : "all " + count_text(elements) + " elements");
}

// Returns "; 12 elements (0.05%) differ" for integers.
std::string unequal_text(const verify::CheckResult& result) {
  if (result.unequal == 0) return "";
  const double share = static_cast<double>(result.unequal) / static_cast<double>(result.compared);
  return "; " + count_text(result.unequal) + " elements (" + number_text(100 * share) + "%) differ";
}

// Returns "; 12 elements not checked, since ..."; empty if there are none.
std::string unchecked_text(std::uint64_t count) {
  if (count == 0) return "";
  return "; " + count_text(count) + " of them not checked: partial sums in another order may overflow";
}

std::string rounding_text(const verify::CheckResult& result) {
  if (!result.with_rounding) return "";
  return " + " + number_text(result.rounding_factor) + " times the rounding of its terms (" +
         (result.square_root ? "square-root bound" : "worst case") + ")";
}

// Returns "; 3 zeros of the other sign"; empty if there are none.
std::string zeros_text(std::uint64_t count) {
  return count == 0 ? "" : "; " + count_text(count) + (count == 1 ? " zero" : " zeros") + " of the other sign";
}

// Returns "; root-mean-square error 1.3e-07, ferry's own 1.2e-07, with inputs of 11 bits 3e-04".
std::string controlled_text(const std::optional<verify::ControlledErrors>& errors) {
  if (!errors) return "";
  return "; root-mean-square error " + number_text(errors->kernel) + ", ferry's own " + number_text(errors->own) +
         ", with inputs of " + std::to_string(errors->bits) + " bits " + number_text(errors->rounded);
}

text::Json controlled_json(const std::optional<verify::ControlledErrors>& errors) {
  if (!errors) return nullptr;
  return {{"kernel", errors->kernel},
          {"own", errors->own},
          {"rounded", errors->rounded},
          {"bits", errors->bits},
          {"allowed", errors->allowed}};
}

std::string to_text(const verify::CheckResult& result) {
  return "check " + short_node_name(result.output) + ": " +
         verdict_text(result.wrong, result.compared, result.elements, "wrong") +
         (result.against.empty() ? "" : " as in " + result.against) + "; largest error " +
         number_text(result.largest_absolute) + " absolute, " + number_text(result.largest_relative) +
         " relative, allowed " + tolerance_text(result.atol) + " + " + tolerance_text(result.rtol) + " * |expected|" +
         rounding_text(result) +
         (result.vectors == 0 ? "" : "; all elements by " + std::to_string(result.vectors) + " random vectors") +
         unchecked_text(result.unchecked) + unequal_text(result) + zeros_text(result.other_zeros) +
         controlled_text(result.controlled) + nan_text(result.nan, result.nan_expected, "computed", "expected") +
         (result.nan_of_algorithm == 0
              ? ""
              : ", " + count_text(result.nan_of_algorithm) +
                    " of them because Winograd's algorithm subtracts infinities (see --winograd off)");
}

text::Json check_json(const verify::CheckResult& result) {
  return {{"output", result.output},
          {"compared", result.compared},
          {"elements", result.elements},
          {"largest_absolute", result.largest_absolute},
          {"largest_relative", result.largest_relative},
          {"rtol", result.rtol},
          {"atol", result.atol},
          {"rounding", !result.with_rounding ? text::Json(nullptr)
                       : result.square_root  ? "square root"
                                             : "worst case"},
          {"rounding_factor", result.with_rounding ? text::Json(result.rounding_factor) : text::Json(nullptr)},
          {"vectors", result.vectors},
          {"exact", result.exact},
          {"wrong", result.wrong},
          {"unchecked", result.unchecked},
          {"unequal", result.unequal},
          {"nan", result.nan},
          {"nan_expected", result.nan_expected},
          {"other_zeros", result.other_zeros},
          {"nan_of_algorithm", result.nan_of_algorithm},
          {"root_mean_square", controlled_json(result.controlled)},
          {"against", result.against.empty() ? text::Json(nullptr) : text::Json(result.against)},
          {"first_wrong", result.first_wrong}};
}

std::string to_text(const verify::OutputComparison& output, const std::string& against) {
  return "check " + output.output + ": " + verdict_text(output.different, output.elements, output.elements, "differ") +
         " as " + against + " computes them; largest difference " + number_text(output.largest_difference) +
         ", allowed " + number_text(output.atol) + " + " + number_text(output.rtol) + " * |larger|" +
         zeros_text(output.other_zeros) + nan_text(output.nan[0], output.nan[1], "computed", "by " + against);
}

// Returns "check with equal rows: fine: C: 1,000 elements, all to the last bit".
std::string to_text(const verify::Probe& probe) {
  const std::string head = "check with " + probe.inputs + (probe.sizes.empty() ? "" : " and " + probe.sizes) + ": ";
  if (!probe.failure.empty()) return head + text::painted(stdout, text::Color::red, "failed");
  std::string outputs;
  bool is_wrong = false;
  for (const verify::CheckResult& result : probe.checks) {
    is_wrong = is_wrong || result.wrong > 0;
    outputs += (outputs.empty() ? "" : "; ") + result.output + ": ";
    if (result.wrong > 0) outputs += count_text(result.wrong) + " wrong of ";
    outputs += count_text(result.compared) + (result.compared == 1 ? " element" : " elements");
    if (result.exact > 0)
      outputs += ", " + (result.exact == result.compared ? "all" : count_text(result.exact)) + " to the last bit";
    if (result.unchecked > 0) outputs += ", " + count_text(result.unchecked) + " not checked";
  }
  return head + text::painted(stdout, is_wrong ? text::Color::red : text::Color::green, is_wrong ? "wrong" : "fine") +
         ": " + outputs;
}

text::Json comparison_json(const verify::OutputComparison& output) {
  return {{"output", output.output},
          {"elements", output.elements},
          {"different", output.different},
          {"largest_difference", output.largest_difference},
          {"nan", {output.nan[0], output.nan[1]}},
          {"other_zeros", output.other_zeros},
          {"rtol", output.rtol},
          {"atol", output.atol},
          {"first_difference",
           output.first_difference.empty() ? text::Json(nullptr) : text::Json(output.first_difference)}};
}

}  // namespace

std::vector<std::string> lines_of(const verify::Findings& findings, const std::string& against) {
  std::vector<std::string> lines;
  for (const verify::CheckResult& result : findings.checks) lines.push_back(to_text(result));
  for (const verify::OutputComparison& output : findings.compared) lines.push_back(to_text(output, against));
  for (const verify::Probe& probe : findings.probes) lines.push_back(to_text(probe));
  return lines;
}

text::Json checks_json(const std::vector<verify::CheckResult>& checks) {
  text::Json list = text::Json::array();
  for (const verify::CheckResult& result : checks) list.push_back(check_json(result));
  return list;
}

text::Json probes_json(const std::vector<verify::Probe>& probes) {
  text::Json list = text::Json::array();
  for (const verify::Probe& probe : probes)
    list.push_back({{"inputs", probe.inputs},
                    {"sizes", probe.sizes},
                    {"check", checks_json(probe.checks)},
                    {"failure", probe.failure.empty() ? text::Json(nullptr) : text::Json(probe.failure)}});
  return list;
}

text::Json comparisons_json(const std::vector<verify::OutputComparison>& compared) {
  text::Json list = text::Json::array();
  for (const verify::OutputComparison& output : compared) list.push_back(comparison_json(output));
  return list;
}

void add_findings(const verify::Findings& findings, bool is_checked, text::Json& json) {
  if (is_checked || !findings.checks.empty()) json["check"] = checks_json(findings.checks);
  if (!findings.compared.empty()) json["compared"] = comparisons_json(findings.compared);
  if (is_checked || !findings.checks.empty()) json["probes"] = probes_json(findings.probes);
  if (!findings.warnings.empty()) json["warnings"] = findings.warnings;
}

void print_mistakes(const verify::Findings& findings, const std::string& kernel, const std::string& against) {
  for (const verify::CheckResult& result : findings.checks)
    if (result.wrong > 0) text::print_error("wrong result: " + result.first_wrong);
  if (const std::string difference = verify::difference_text(findings.compared); !difference.empty())
    text::print_error(kernel + " and " + against + " differ: " + difference);
  for (const verify::Probe& probe : findings.probes)
    if (const std::string mistake = probe.mistake(); !mistake.empty()) text::print_error("wrong result " + mistake);
}

void print_warnings(const verify::Findings& findings) {
  for (const std::string& warning : findings.warnings) text::print_note("warning: " + warning);
}

void add_cases(const verify::Findings& findings, const std::string& against, text::JUnitReport& report,
               const std::string& prefix) {
  for (const verify::CheckResult& result : findings.checks)
    report.cases.push_back(
        {.name = prefix + result.output + (result.against.empty() ? " as it is defined" : " as in " + result.against),
         .failure = result.first_wrong});
  for (const verify::OutputComparison& output : findings.compared)
    report.cases.push_back({.name = prefix + output.output + " as " + against + " computes it",
                            .failure = verify::difference_text({output})});
  for (const verify::Probe& probe : findings.probes)
    report.cases.push_back(
        {.name = prefix + "with " + probe.inputs + (probe.sizes.empty() ? "" : " and " + probe.sizes),
         .failure = probe.mistake()});
}

}  // namespace ferry::cli
