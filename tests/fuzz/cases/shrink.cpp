#include "tests/fuzz/cases/shrink.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <functional>

namespace ferry::fuzz {

namespace {

// Returns whether the name occurs in the text as a whole word.
bool names(const std::string& text, const std::string& name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const bool ends = at + name.size() == text.size() || !is_word(text[at + name.size()]);
    if (begins && ends) return true;
  }
  return false;
}

std::string without_number(const std::string& step) { return step.substr(0, step.find(':')); }

class Shrinker {
 public:
  Shrinker(FuzzCase fuzz_case, Outcome outcome, int tries)
      : best_{std::move(fuzz_case), std::move(outcome)}, tries_(tries) {}

  Shrunk run() {
    // Try without the schedule: the program alone may be at fault.
    FuzzCase plain = best_.fuzz_case;
    plain.directives.clear();
    try_case(std::move(plain));
    bool smaller = true;
    while (smaller && tries_ > 0) {
      smaller = drop_directives();
      smaller = drop_statements() || smaller;
      smaller = make_plain() || smaller;
      smaller = simplify_values() || smaller;
      smaller = shrink_sizes() || smaller;
      smaller = shrink_numbers() || smaller;
    }
    return std::move(best_);
  }

 private:
  bool try_case(FuzzCase candidate) {
    if (std::chrono::steady_clock::now() > end_) tries_ = 0;
    if (tries_ <= 0) return false;
    drop_unused(candidate);
    --tries_;
    Outcome outcome = run_case(candidate);
    if (outcome.kind != best_.outcome.kind) return false;
    if (without_number(outcome.step) != without_number(best_.outcome.step)) return false;
    outcome.directives = candidate.directives;
    best_ = {std::move(candidate), std::move(outcome)};
    return true;
  }

  static bool is_stride_of(const InputTensor& input, const std::string& name) {
    return std::find(input.strides.begin(), input.strides.end(), name) != input.strides.end();
  }

  bool make_plain() {
    bool smaller = false;
    for (std::size_t i = 0; i < best_.fuzz_case.inputs.size(); ++i) {
      FuzzCase candidate = best_.fuzz_case;
      if (candidate.inputs[i].constant) {
        candidate.inputs[i].constant = false;
        smaller = try_case(candidate) || smaller;
      }
      if (candidate.inputs[i].strides.empty()) continue;
      candidate.inputs[i].strides.clear();
      smaller = try_case(std::move(candidate)) || smaller;
    }
    return smaller;
  }

  static void drop_unused(FuzzCase& candidate) {
    const auto is_used = [&](const std::string& name, bool in_shapes) {
      for (const Statement& statement : candidate.statements) {
        if (names(to_text(statement.value), name)) return true;
        for (const std::string& index : statement.axes)
          if (names(index, name)) return true;
        for (const Range& range : statement.ranges)
          if (names(range.extent, name)) return true;
        if (statement.target == name) return true;
      }
      for (const InputTensor& input : candidate.inputs) {
        for (const std::string& extent : input.shape)
          if (in_shapes && names(extent, name)) return true;
        if (is_stride_of(input, name)) return true;
      }
      return false;
    };
    std::erase_if(candidate.inputs, [&](const InputTensor& input) { return !is_used(input.name, false); });
    std::erase_if(candidate.scalars, [&](const std::string& name) { return !is_used(name, true); });
    std::erase_if(candidate.sizes, [&](const auto& size) {
      return !is_used(size.first, true) &&
             std::find(candidate.scalars.begin(), candidate.scalars.end(), size.first) == candidate.scalars.end();
    });
    // A size that no remaining input has as a plain dimension becomes an argument.
    for (const auto& [name, value] : candidate.sizes) {
      const auto is_bare = [&](const InputTensor& input) {
        return std::find(input.shape.begin(), input.shape.end(), name) != input.shape.end();
      };
      const auto strides = [&](const InputTensor& input) { return is_stride_of(input, name); };
      if (std::any_of(candidate.inputs.begin(), candidate.inputs.end(), strides)) continue;
      const bool given = std::find(candidate.scalars.begin(), candidate.scalars.end(), name) != candidate.scalars.end();
      if (!given && std::none_of(candidate.inputs.begin(), candidate.inputs.end(), is_bare))
        candidate.scalars.push_back(name);
    }
  }

  bool drop_directives() {
    bool smaller = false;
    for (std::size_t i = best_.fuzz_case.directives.size(); i-- > 0;) {
      FuzzCase candidate = best_.fuzz_case;
      candidate.directives.erase(candidate.directives.begin() + static_cast<std::ptrdiff_t>(i));
      smaller = try_case(std::move(candidate)) || smaller;
    }
    return smaller;
  }

  bool drop_statements() {
    bool smaller = false;
    for (std::size_t i = best_.fuzz_case.statements.size(); i-- > 0 && best_.fuzz_case.statements.size() > 1;) {
      FuzzCase candidate = best_.fuzz_case;
      const std::string target = candidate.statements[i].target;
      candidate.statements.erase(candidate.statements.begin() + static_cast<std::ptrdiff_t>(i));
      const auto computes = [&](const Statement& statement) { return statement.target == target; };
      if (std::none_of(candidate.statements.begin(), candidate.statements.end(), computes)) {
        std::erase_if(candidate.outputs, [&](const std::string& output) { return names(target, output); });
        // If no output remains, the last statement computes the output.
        if (candidate.outputs.empty())
          candidate.outputs.push_back(
              candidate.statements.back().target.substr(0, candidate.statements.back().target.find(',')));
      }
      smaller = try_case(std::move(candidate)) || smaller;
    }
    for (std::size_t i = best_.fuzz_case.outputs.size(); i-- > 0 && best_.fuzz_case.outputs.size() > 1;) {
      FuzzCase candidate = best_.fuzz_case;
      candidate.outputs.erase(candidate.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      smaller = try_case(std::move(candidate)) || smaller;
    }
    return smaller;
  }

  static void each_node(Node& node, const std::function<void(Node&)>& visit) {
    visit(node);
    for (Node& part : node.parts) each_node(part, visit);
  }
  static std::size_t count_nodes(FuzzCase& fuzz_case) {
    std::size_t count = 0;
    for (Statement& statement : fuzz_case.statements) each_node(statement.value, [&](Node&) { ++count; });
    return count;
  }

  // Replaces nodes by one of their operands or by a constant.
  bool simplify_values() {
    bool smaller = false;
    for (std::size_t at = 0; at < count_nodes(best_.fuzz_case); ++at) {
      for (int way = 0; way < 5; ++way) {
        FuzzCase candidate = best_.fuzz_case;
        std::size_t number = 0;
        bool changed = false;
        for (Statement& statement : candidate.statements)
          each_node(statement.value, [&](Node& node) {
            if (number++ != at) return;
            changed = simplify(node, way);
          });
        if (changed && try_case(std::move(candidate))) {
          smaller = true;
          break;
        }
      }
    }
    return smaller;
  }

  static bool simplify(Node& node, int way) {
    if (way == 0) {
      const std::string constant = node.type == DType::boolean ? "true" : std::string(type_text(node.type)) + "(1)";
      if (node.text == constant || (node.parts.empty() && node.text.find('(') != std::string::npos &&
                                    node.text.rfind(type_text(node.type), 0) == 0))
        return false;
      node = {constant, node.type, {}, true};
      return true;
    }
    const auto part = static_cast<std::size_t>(way - 1);
    if (part >= node.parts.size() || node.parts[part].type != node.type) return false;
    Node chosen = std::move(node.parts[part]);
    node = std::move(chosen);
    return true;
  }

  bool shrink_sizes() {
    bool smaller = false;
    const auto sizes = best_.fuzz_case.sizes;
    for (const auto& [name, value] : sizes) {
      for (const std::int64_t less : {std::int64_t{1}, value / 2, value - 1}) {
        if (less < 0 || less >= value) continue;
        FuzzCase candidate = best_.fuzz_case;
        candidate.sizes[name] = less;
        if (try_case(std::move(candidate))) {
          smaller = true;
          break;
        }
      }
    }
    return smaller;
  }

  // Shrinks constant extents and the numbers in directives.
  bool shrink_numbers() {
    bool smaller = false;
    for (std::size_t s = 0; s < best_.fuzz_case.statements.size(); ++s) {
      for (std::size_t r = 0; r < best_.fuzz_case.statements[s].ranges.size(); ++r) {
        const std::string extent = best_.fuzz_case.statements[s].ranges[r].extent;
        if (extent.find_first_not_of("0123456789") != std::string::npos) continue;
        const std::int64_t value = std::stoll(extent);
        for (const std::int64_t less : {std::int64_t{1}, value / 2, value - 1}) {
          if (less < 1 || less >= value) continue;
          FuzzCase candidate = best_.fuzz_case;
          candidate.statements[s].ranges[r].extent = std::to_string(less);
          if (!try_case(std::move(candidate))) continue;
          smaller = true;
          break;
        }
      }
    }
    return smaller;
  }

  Shrunk best_;
  int tries_;
  // Hangs and slow compilations would take the time of many other cases.
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds(60);
};

}  // namespace

Shrunk shrink(FuzzCase fuzz_case, Outcome outcome, int tries) {
  return Shrinker(std::move(fuzz_case), std::move(outcome), tries).run();
}

}  // namespace ferry::fuzz
