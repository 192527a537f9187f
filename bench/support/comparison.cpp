#include "bench/support/comparison.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace ferry::bench {

double median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("median of nothing");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Comparison::lowest() const { return *std::min_element(ratios.begin(), ratios.end()); }
double Comparison::highest() const { return *std::max_element(ratios.begin(), ratios.end()); }

std::string Comparison::text() const {
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "%.2f (%.2f-%.2f over %zu rounds)", ratio(), lowest(), highest(), ratios.size());
  return buffer;
}

Comparison compare(std::size_t rounds, const std::function<double()>& ours, const std::function<double()>& theirs) {
  Comparison result;
  ours();
  theirs();
  for (std::size_t round = 0; round < rounds; ++round) {
    result.ours.push_back(ours());
    result.theirs.push_back(theirs());
    result.ratios.push_back(result.ours.back() / result.theirs.back());
  }
  return result;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void pin_to_cpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("cannot pin to CPU " + std::to_string(cpu));
}

}  // namespace ferry::bench
