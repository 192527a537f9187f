// Times two things in turns, A B A B, so that disturbances on the machine affect both; the result is the ratio of each
// pair.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ferry::bench {

double median(std::vector<double> values);

struct Comparison {
  std::vector<double> ours;  // seconds, one entry per round
  std::vector<double> theirs;
  std::vector<double> ratios;  // ours / theirs in the same round

  double ratio() const { return median(ratios); }
  double lowest() const;
  double highest() const;
  // Returns "1.12 (1.05-1.31 over 15 rounds)".
  std::string text() const;
};

// Each function runs its work once and returns the seconds it took. The first round is not counted.
Comparison compare(std::size_t rounds, const std::function<double()>& ours, const std::function<double()>& theirs);

// Returns the seconds that a piece of work takes.
double seconds_of(const std::function<void()>& work);

// Pins the calling process, and those it starts, to one CPU.
void pin_to_cpu(int cpu);

}  // namespace ferry::bench
