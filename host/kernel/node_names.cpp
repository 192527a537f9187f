#include "host/kernel/node_names.h"

#include <algorithm>

namespace ferry {

namespace {

constexpr std::size_t kMost = 56;  // characters of a whole name, and nearly so of two parts

std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t half = (most - 3) / 2;
  return text.substr(0, half) + "..." + text.substr(text.size() - half);
}

}  // namespace

std::string short_node_name(const std::string& node) {
  if (node.size() <= kMost) return node;
  const std::size_t first = node.find('+'), last = node.rfind('+');
  if (first == std::string::npos) return cut(node, kMost);
  const auto nodes = std::ranges::count(node, '+') + 1;
  const std::string between = nodes == 2 ? "+" : "+...+";
  return cut(node.substr(0, first), kMost / 2) + between + cut(node.substr(last + 1), kMost / 2) +
         (nodes == 2 ? "" : " (" + std::to_string(nodes) + " nodes)");
}

}  // namespace ferry
