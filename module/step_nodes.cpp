#include "module/step_nodes.h"

#include "base/format.h"
#include "base/printable.h"

namespace ferry {
namespace {

constexpr std::string_view kCut = "...";

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

Status refuse(const std::string& expected) {
  return Status(ErrorCode::invalid_argument, "module: names of nodes: expected " + expected);
}

}  // namespace

std::string step_nodes_text(std::span<const std::string> nodes) {
  std::string text;
  for (const std::string& node : nodes) {
    std::string name = printable(node);
    if (name.size() > kMaxNameBytes) {
      std::size_t end = kMaxNameBytes - kCut.size();
      while (continues_character(name[end])) --end;
      name.replace(end, std::string::npos, kCut);
    }
    text += name + "\n";
  }
  return text;
}

Result<std::vector<std::string>> step_nodes(const ModuleFile& module) {
  std::vector<std::string> nodes;
  if (module.nodes.empty()) return nodes;
  if (module.manifest.functions.size() != 1) {
    return refuse(format("a module of one function, got one of %zu", module.manifest.functions.size()));
  }
  const std::size_t steps = module.manifest.functions.front().plan.steps.size();
  for (std::string_view rest = module.nodes; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return refuse("a line feed at the end");
    if (nodes.size() == steps) return refuse(format("%zu, got more", steps));
    if (end > kMaxNameBytes) return refuse(format("up to %zu bytes of each, got %zu", kMaxNameBytes, end));
    std::string name(rest.substr(0, end));
    if (printable(name) != name) return refuse("UTF-8 without control characters, got '" + printable(name) + "'");
    nodes.push_back(std::move(name));
    rest.remove_prefix(end + 1);
  }
  if (nodes.size() != steps) return refuse(format("%zu, got %zu", steps, nodes.size()));
  return nodes;
}

}  // namespace ferry
