#include "host/graph/onnx/operators.h"

#include <string_view>

namespace ferry::graph::onnx {
namespace {

struct Row {
  std::string_view domain, op;
  Importer importer;
  std::int64_t first, last;  // opsets
};

constexpr Row kRows[] = {
#define FERRY_ONNX_OPERATOR(op, importer, first, last) {"", #op, importer, first, last},
#include "host/graph/onnx/operators.def"
#undef FERRY_ONNX_OPERATOR
// com.microsoft has had one opset.
#define FERRY_CONTRIB_OPERATOR(op, importer) {"com.microsoft", #op, importer, 1, 1},
#include "host/graph/onnx/contrib_operators.def"
#undef FERRY_CONTRIB_OPERATOR
#define FERRY_ML_OPERATOR(op, importer, first, last) {"ai.onnx.ml", #op, importer, first, last},
#include "host/graph/onnx/ml_operators.def"
#undef FERRY_ML_OPERATOR
};

}  // namespace

Importer find_importer(const std::string& domain, const std::string& op, std::int64_t opset) {
  for (const Row& row : kRows) {
    if (row.domain == domain && row.op == op && row.first <= opset && opset <= row.last) return row.importer;
  }
  return nullptr;
}

std::string supported_opsets(const std::string& domain, const std::string& op) {
  std::string text;
  for (const Row& row : kRows) {
    if (row.domain != domain || row.op != op) continue;
    text += (text.empty() ? "opset " : " and ") + std::to_string(row.first) + " to " + std::to_string(row.last);
  }
  return text;
}

}  // namespace ferry::graph::onnx
