// Advice about operators that ferry does not import.
#pragma once

#include <string>

namespace ferry::graph::onnx {

// Returns a clause such as "make the random numbers an input of the network"; empty where there is none.
std::string advice_about(const std::string& domain, const std::string& op);

}  // namespace ferry::graph::onnx
