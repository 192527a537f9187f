// Tests random schedules around a tensorize: each is refused or preserves the result.
#include "crosscompile/ir/error.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace ferry::test;

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int count) { return static_cast<int>(engine_() % static_cast<unsigned>(count)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  void shuffle(std::vector<std::string>& values) { std::shuffle(values.begin(), values.end(), engine_); }

 private:
  std::mt19937 engine_;
};

struct Types {
  const char *left, *right, *sum;
};

struct Attempt {
  std::string source, schedule;
};

std::string text(int number) { return std::to_string(number); }

Attempt attempt(Random& random) {
  const Types types = random.one_of(std::vector<Types>{
      {"uint8", "int8", "int"}, {"int8", "int8", "int"}, {"int16", "int16", "int"}, {"bfloat16", "bfloat16", "float"}});
  const int group = random.one_of(std::vector<int>{2, 4}), lanes = random.one_of(std::vector<int>{4, 8});
  // Occasionally there is a remainder.
  const int k = group * (1 + random.below(4)) + (random.chance(10) ? 1 : 0);
  const int n = lanes * (1 + random.below(3)) + (random.chance(10) ? 1 : 0);
  Attempt result;
  const bool starts = random.chance(30);
  result.source = std::string("def mm(") + types.left + "(M," + text(k) + ") A, " + types.right + "(" + text(k) + "," +
                  text(n) + ") B" + (starts ? std::string(", ") + types.sum + "(M," + text(n) + ") C" : "") +
                  ") -> (C) { C(m,n) +=" + (starts ? " " : "! ") + types.sum + "(A(m,k)) * " + types.sum + "(B(k,n)) }";
  std::string& s = result.schedule;
  if (random.chance(85)) {
    s += "B: cache_read " + std::string(random.chance(70) ? "global" : "local") + " -> P\n";
    const std::string blocks = "n / " + text(lanes) + ", k / " + text(group), l = "n % " + text(lanes),
                      g = "k % " + text(group);
    s += "P: transform_layout (k, n) -> (" + blocks + ", " + (random.chance(90) ? l + ", " + g : g + ", " + l) + ")\n";
  }
  s += "C: split k " + text(group) + " -> ko ki\nsplit n " + text(lanes) + " -> no ni\n";
  std::vector<std::string> outer{"m", "no", "ko"}, small;
  for (const char* axis : {"m", "no", "ko"}) {
    if (!random.chance(30)) continue;
    const std::string o = std::string(axis) + "o", i = std::string(axis) + "i";
    s += "split " + std::string(axis) + " " + text(1 + random.below(3)) + " -> " + o + " " + i + "\n";
    outer.erase(std::find(outer.begin(), outer.end(), axis));
    outer.push_back(o);
    outer.push_back(i);
    small.push_back(i);
  }
  random.shuffle(outer);
  std::vector<std::string> order = outer;
  if (random.chance(80)) {
    order.insert(order.end(), {random.chance(70) ? "ni" : "ki", ""});
    order.back() = order[order.size() - 2] == "ni" ? "ki" : "ni";
  } else {
    order.insert(order.end(), {"ni", "ki"});
    random.shuffle(order);
  }
  s += "reorder";
  for (const std::string& axis : order) s += " " + axis;
  s += "\n";
  for (const std::string& axis : small)
    if (random.chance(60)) s += "unroll " + axis + "\n";
  s += "tensorize " + (random.chance(85) ? order[order.size() - 2] : random.one_of(order)) + " dot\n";
  if (s.starts_with("B:") && random.chance(40)) s += "P: compute_at C " + random.one_of(outer) + "\n";
  if (random.chance(30)) s += "C: parallel " + outer[0] + "\n";
  return result;
}

}  // namespace

TEST_CASE("random schedules around a tensorize are refused or change no result") {
  int accepted = 0, refused = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Attempt tried = attempt(random);
    INFO("seed " << seed << "\n" << tried.source << "\n" << tried.schedule);
    try {
      check_schedule(tried.source, tried.schedule, {{"M", random.below(6)}});
      ++accepted;
    } catch (const ferry::CompileError&) {
      ++refused;
    }
  }
  CHECK_MESSAGE(accepted > 120, accepted << " accepted, " << refused << " refused");
  CHECK_MESSAGE(refused > 40, accepted << " accepted, " << refused << " refused");
}
