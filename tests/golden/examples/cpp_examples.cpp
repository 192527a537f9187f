#include "tests/golden/examples/cpp_examples.h"

#include <cstdint>

#define FERRY_EXAMPLE(name) int main_of_##name();
#include FERRY_CPP_EXAMPLES
#undef FERRY_EXAMPLE

namespace ferry {

namespace {

// Collects the examples that the running main() shows.
std::vector<test::CppExample>* shown = nullptr;

}  // namespace

// Defines show() of examples/show/show.h; the examples are linked with this one.
namespace example {

int show(const lang::Program& program, const schedule::Schedule& schedule,
         const std::vector<std::vector<std::int64_t>>&) {
  shown->push_back({"", program, schedule});
  return 0;
}

}  // namespace example

namespace test {

std::vector<CppExample> cpp_examples() {
  std::vector<CppExample> all;
  const auto add = [&](const char* name, int (*main_of_example)()) {
    std::vector<CppExample> own;
    shown = &own;
    main_of_example();
    shown = nullptr;
    for (CppExample& example : own) {
      example.name = name;
      all.push_back(std::move(example));
    }
  };
#define FERRY_EXAMPLE(name) add(#name, main_of_##name);
#include FERRY_CPP_EXAMPLES
#undef FERRY_EXAMPLE
  return all;
}

}  // namespace test

}  // namespace ferry
