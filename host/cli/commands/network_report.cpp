#include "host/cli/commands/network_report.h"

#include <algorithm>
#include <cstdio>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/text/columns.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

text::Json tensors_json(const std::vector<NetworkTensor>& tensors) {
  text::Json json = text::Json::array();
  for (const NetworkTensor& tensor : tensors) {
    json.push_back({{"name", tensor.name},
                    {"dtype", dtype_name(tensor.dtype)},
                    {"shape", tensor.shape},
                    {"counted_by", tensor.counted_by.empty() ? text::Json() : text::Json(tensor.counted_by)}});
  }
  return json;
}

text::Json network_json(const NetworkSummary& network, const std::string& file) {
  text::Json operators = text::Json::array();
  for (const NetworkOperator& one : network.operators) {
    operators.push_back({{"operator", one.name}, {"nodes", one.nodes}, {"supported", one.is_supported}});
  }
  return {{"schema", "ferry.inspect_network/1"},
          {"file", file},
          {"name", network.name},
          {"ir_version", network.ir_version},
          {"opset", network.opset},
          {"symbols", network.symbols},
          {"inputs", tensors_json(network.inputs)},
          {"outputs", tensors_json(network.outputs)},
          {"parameters", network.parameters},
          {"multiply_adds", network.multiply_adds.empty() ? text::Json() : text::Json(network.multiply_adds)},
          {"operators", operators},
          {"unsupported", network.unsupported}};
}

void print_tensors(const char* what, const std::vector<NetworkTensor>& tensors) {
  for (const NetworkTensor& tensor : tensors) {
    const bool is_counted = !tensor.counted_by.empty();
    printf("%-14s%s %s[%s]%s%s\n", what, printable(tensor.name).c_str(), dtype_name(tensor.dtype),
           join(",", tensor.shape).c_str(), is_counted ? " at most, as " : "",
           is_counted ? (printable(tensor.counted_by) + " says").c_str() : "");
  }
}

// Returns a number with separators; an expression as it is.
std::string work_text(const std::string& expression) {
  const bool is_number = expression.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? count_text(std::stoull(expression)) : expression;
}

}  // namespace

void print_network(const NetworkSummary& network, const std::string& file, bool json) {
  if (json) return text::print_json(network_json(network, file));
  printf("file          %s\n", file.c_str());
  printf("network       %s, ONNX IR version %lld, opset %lld\n", printable(network.name).c_str(),
         static_cast<long long>(network.ir_version), static_cast<long long>(network.opset));
  print_tensors("input", network.inputs);
  print_tensors("output", network.outputs);
  printf("parameters    %s\n", count_text(network.parameters).c_str());
  if (!network.multiply_adds.empty()) printf("multiply-adds %s\n", work_text(network.multiply_adds).c_str());
  text::Rows rows = {{"operator", "nodes", ""}};
  for (const NetworkOperator& one : network.operators) {
    rows.push_back({printable(one.name), count_text(one.nodes), one.is_supported ? "" : "not supported"});
  }
  printf("\n");
  text::print_columns(rows);
  if (!network.unsupported.empty()) printf("\nnot supported\n");
  for (const std::string& refusal : network.unsupported) printf("  %s\n", printable(refusal).c_str());
}

}  // namespace ferry::cli
