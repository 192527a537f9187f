#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/paths.h"

namespace ferry::test {
namespace {

// Returns how the page shows an operator: its name, with the opsets unless they are all.
std::string entry_of(const std::string& op, int first, int last) {
  if (last != 28) return " " + op + " (" + std::to_string(first) + "-" + std::to_string(last) + ")";
  return first == 6 ? " " + op : " " + op + " (" + std::to_string(first) + ")";
}

TEST_CASE("every operator that is imported is on the page about compiling networks") {
  std::ifstream file(FERRY_SOURCE_DIR "/docs/network_compilation.md");
  std::string page(std::istreambuf_iterator<char>(file), {});
  for (char& letter : page) letter = letter == '\n' ? ' ' : letter;
  const auto expect = [&](const char* op, int first, int last) {
    const std::string entry = entry_of(op, first, last);
    const bool is_listed = page.find(entry + ",") != std::string::npos || page.find(entry + ".") != std::string::npos;
    CHECK_MESSAGE(is_listed, entry);
  };
#define FERRY_ONNX_OPERATOR(op, importer, first, last) expect(#op, first, last);
#include "host/graph/onnx/operators.def"
#undef FERRY_ONNX_OPERATOR
#define FERRY_CONTRIB_OPERATOR(op, importer) expect(#op, 6, 28);
#include "host/graph/onnx/contrib_operators.def"
#undef FERRY_CONTRIB_OPERATOR
#define FERRY_ML_OPERATOR(op, importer, first, last) expect(#op, 6, 28);
#include "host/graph/onnx/ml_operators.def"
#undef FERRY_ML_OPERATOR
}

}  // namespace
}  // namespace ferry::test
