// What a kernel of a network reports, in the network's words.
#pragma once

#include <span>
#include <string>

namespace ferry::graph {

// Turns "'y' reads 'x0' outside its shape: expected x1[i0] as index 1 to stay within 0:4" (host/lang/gather.cpp) into
// "an index in 'ids' is outside of the 4 entries of 'table'". `tensors` are the names of the tensors that are called
// x0, x1, ... there. Returns any other message as it is.
std::string in_words_of_network(const std::string& message, std::span<const std::string> tensors);

}  // namespace ferry::graph
