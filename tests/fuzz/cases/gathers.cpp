#include "tests/fuzz/cases/gathers.h"

#include "crosscompile/ir/visitor.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace ferry::fuzz {

namespace {

class FindGathers : public ir::Visitor {
 public:
  bool any = false;

 protected:
  void visit_node(const ir::Load& node) override {
    for (const ir::Expr& index : node.indices)
      any |= !index.type().is_scalar() && index.as<ir::Ramp>() == nullptr && index.as<ir::Broadcast>() == nullptr;
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;
};

// Returns the numbers of the instruction's vector registers, of any width.
std::vector<int> vector_registers(const std::string& instruction) {
  std::vector<int> numbers;
  for (std::size_t at = instruction.find("mm"); at != std::string::npos; at = instruction.find("mm", at + 2)) {
    const bool is_register = at > 1 && instruction[at - 2] == '%' && at + 2 < instruction.size() &&
                             std::isdigit(static_cast<unsigned char>(instruction[at + 2])) != 0;
    if (is_register) numbers.push_back(std::stoi(instruction.substr(at + 2)));
  }
  return numbers;
}

}  // namespace

std::string impossible_gather(const std::string& assembly) {
  for (std::size_t start = 0; start < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', start), assembly.size());
    const std::string line = assembly.substr(start, end - start);
    start = end + 1;
    const std::size_t word = line.find_first_not_of(" \t");
    if (word == std::string::npos || line[word] != 'v' || line.find("gather", word) == std::string::npos) continue;
    std::vector<int> numbers = vector_registers(line);
    std::sort(numbers.begin(), numbers.end());
    if (std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end()) return line.substr(word);
  }
  return "";
}

bool may_gather(const ir::Function& function, const Target& target) {
  if (!target.capabilities.gathers || !function.body.defined()) return false;
  FindGathers find;
  find.visit(function.body);
  return find.any;
}

}  // namespace ferry::fuzz
