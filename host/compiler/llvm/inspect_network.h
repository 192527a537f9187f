// Reads networks for the compiler.
#pragma once

#include "host/compiler/api/network.h"
#include "host/graph/onnx/import.h"

namespace ferry {

graph::onnx::ImportOptions import_options(const NetworkSource& source);
NetworkSummary inspect_network(const NetworkSource& source);

}  // namespace ferry
