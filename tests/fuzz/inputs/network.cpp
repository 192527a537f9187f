#include "ferry/error.h"
#include "host/graph/onnx/import.h"
#include "tests/fuzz/inputs/targets.h"

namespace ferry::fuzz {

void fuzz_onnx(Input input) {
  try {
    // In a folder that does not exist, so that there are no external data.
    validate(import_graph(graph::onnx::parse_model(input, "/nonexistent/net.onnx")));
  } catch (const Error&) {
  }
}

}  // namespace ferry::fuzz
