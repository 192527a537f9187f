// Two things timed in turn, A B A B, so that what the machine does meanwhile hits both; what counts is the ratio of
// each pair.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ferry::bench {

double median(std::vector<double> values);

struct Comparison {
  std::vector<double> ours;  // seconds, one entry a round
  std::vector<double> theirs;
  std::vector<double> ratios;  // ours / theirs of the same round

  double ratio() const { return median(ratios); }
  double lowest() const;
  double highest() const;
  // "1.12 (1.05-1.31 over 15 rounds)"
  std::string text() const;
};

// Each function runs its work once and returns the seconds it took. The first round is not counted.
Comparison compare(std::size_t rounds, const std::function<double()>& ours, const std::function<double()>& theirs);

// Seconds that a piece of work takes.
double seconds_of(const std::function<void()>& work);

// Keeps the calling process, and those it starts, on one CPU.
void pin_to_cpu(int cpu);

}  // namespace ferry::bench
