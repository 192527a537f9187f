#include "host/cli/commands/check_report.h"

#include <cstdio>

#include "base/quantity_text.h"

namespace ferry::cli {

namespace {

std::string tolerance_text(double value) {
  char text[32];
  snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

std::string to_text(const verify::CheckResult& result) {
  const bool all = result.compared == result.elements;
  const std::string what =
      all ? (result.elements == 1 ? "the only element" : "all " + count_text(result.elements) + " elements")
          : "a seeded sample of " + count_text(result.compared) + " of " + count_text(result.elements) + " elements";
  return "check " + result.output + ": " + what + ", largest error " + number_text(result.largest_absolute) +
         " absolute, " + number_text(result.largest_relative) + " relative; allowed " + tolerance_text(result.atol) +
         " + " + tolerance_text(result.rtol) + " * |expected|" +
         (result.with_rounding ? " + the rounding of its terms" : "") + ": " +
         (result.wrong == 0 ? "fine" : count_text(result.wrong) + " wrong");
}

Json check_json(const verify::CheckResult& result) {
  return {{"output", result.output},
          {"compared", result.compared},
          {"elements", result.elements},
          {"largest_absolute", result.largest_absolute},
          {"largest_relative", result.largest_relative},
          {"rtol", result.rtol},
          {"atol", result.atol},
          {"wrong", result.wrong},
          {"first_wrong", result.first_wrong}};
}

std::string to_text(const verify::OutputComparison& output, const std::string& against) {
  return "check " + output.output + ": all " + count_text(output.elements) + " elements as " + against +
         " computes them, largest difference " + number_text(output.largest_difference) + "; allowed " +
         number_text(output.atol) + " + " + number_text(output.rtol) +
         " * |larger|: " + (output.different == 0 ? "fine" : count_text(output.different) + " differ");
}

Json comparison_json(const verify::OutputComparison& output) {
  return {{"output", output.output},
          {"elements", output.elements},
          {"different", output.different},
          {"largest_difference", output.largest_difference},
          {"rtol", output.rtol},
          {"atol", output.atol},
          {"first_difference", output.first_difference.empty() ? Json(nullptr) : Json(output.first_difference)}};
}

}  // namespace ferry::cli
