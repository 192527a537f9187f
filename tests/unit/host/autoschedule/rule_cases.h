// Programs that each rule of host/autoschedule matches, with sizes that no factor divides.
#pragma once

#include "ferry/target/target.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::test {

struct RuleCase {
  std::string name;
  std::string source;
  std::vector<std::string> rules;  // those that decide by default
  Target target;
  // The schedule is decided at these sizes and run at others.
  std::map<std::string, std::int64_t> expected_sizes;
  std::vector<std::map<std::string, std::int64_t>> sizes;
};

const std::vector<RuleCase>& rule_cases();

// Adds those of products of bytes, which are part of them.
void add_byte_product_cases(std::vector<RuleCase>& cases);

// Returns a CPU with caches so small that small programs exceed them.
Target small_cpu(std::uint32_t vector_bits, std::uint64_t l1_bytes = 256, std::uint64_t l2_bytes = 600);

}  // namespace ferry::test
