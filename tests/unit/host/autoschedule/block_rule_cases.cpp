#include "tests/unit/host/autoschedule/block_rule_cases.h"

#include <map>
#include <string>
#include <utility>

namespace ferry::test {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

// Integers, so that reordered sums are equal.
constexpr const char* kBlockSums =
    "def f(int(B,64) X, uint32(P,8,N) W, int(P,4,N) S) -> (Y) {\n"
    "  T(b,j) +=! X(b,j*16+k) where j in 0:4, k in 0:16\n"
    "  D(b,p,j,n) +=! X(b,j*16+k*8+e) * int((W(p,j*2+k,n) >> (e*4)) & 15) where j in 0:4, k in 0:2, e in 0:8\n"
    "  Y(b,p,n) +=! S(p,j,n) * (D(b,p,j,n) - 8 * T(b,j))\n}";
constexpr const char* kFinishedBlockSums =
    "def f(int(B,28) X, uint8(28,N) W, int(4,N) S, int(N) D) -> (Y) {\n"
    "  C(b,j,n) +=! X(b,j*7+k) * int(W(j*7+k,n)) where j in 0:4, k in 0:7\n"
    "  Z(b,n) +=! S(j,n) * C(b,j,n)\n"
    "  Y(b,n) = max(Z(b,n) + D(n), 0)\n}";
constexpr const char* kBlockDots =
    "def f(int8(B,4,2,2,4) X, uint8(P,8,COLUMNS,4) W, int(P,4,COLUMNS) S) -> (Y) {\n"
    "  U(p,k,e,n,g) = (W(p,k,n,g) >> uint8(e*4)) & uint8(15) where e in 0:2\n"
    "  D(b,p,j,n) +=! int(U(p,j*2+k,e,n,g)) * int(X(b,j,k,e,g)) where k in 0:2\n"
    "  Y(b,p,n) +=! S(p,j,n) * D(b,p,j,n)\n}";
constexpr const char* kPlainBlockDots =
    "def f(int8(B,4,2,1,4) X, uint8(P,8,32,4) W, int(P,4,32) S) -> (Y) {\n"
    "  D(b,p,j,n) +=! int(X(b,j,k,e,g)) * int(W(p,j*2+k,n,g)) where k in 0:2, e in 0:1\n"
    "  Y(b,p,n) +=! S(p,j,n) * D(b,p,j,n)\n}";

}  // namespace

void add_block_cases(std::vector<RuleCase>& cases, std::uint32_t bits) {
  const Target cpu = small_cpu(bits);
  const std::string suffix = ", " + std::to_string(bits) + "-bit vectors";
  const auto add = [&](const std::string& name, const std::string& source, std::vector<std::string> rules,
                       const Target& target, const Sizes& expected, const std::vector<Sizes>& sizes) {
    cases.push_back({name + suffix, source, std::move(rules), target, expected, sizes});
  };
  const auto rows_of = [](std::int64_t panels, std::int64_t columns) {
    std::vector<Sizes> sizes;
    for (const std::int64_t rows : {13, 3, 1, 0}) sizes.push_back({{"B", rows}, {"P", panels}, {"N", columns}});
    return sizes;
  };
  std::vector<Sizes> few = rows_of(3, 67), one = rows_of(1, 5);
  few.insert(few.end(), one.begin(), one.end());
  for (const std::int64_t rows : {1, 7, 0}) {
    const std::string of = rows == 0 ? "rows of open sizes" : std::to_string(rows) + " rows";
    const Sizes known = {{"B", rows}, {"P", 3}, {"N", 67}};
    add("sums of blocks, " + of, kBlockSums, {"reduction", "parallel", "block_sums", "parallel"}, cpu,
        rows == 0 ? Sizes{} : known, few);
    add("sums of blocks with an epilogue, " + of, kFinishedBlockSums, {"block_sums", "parallel"}, cpu,
        rows == 0 ? Sizes{} : Sizes{{"B", rows}, {"N", 67}},
        {{{"B", 13}, {"N", 67}},
         {{"B", 1}, {"N", 1}},
         {{"B", 3}, {"N", 5}},
         {{"B", 0}, {"N", 19}},
         {{"B", 2}, {"N", 0}}});
  }
  Target dots = cpu;
  dots.capabilities.vnni_256 = true;
  for (const std::int64_t columns : {64, 96}) {
    std::string source = kBlockDots;
    for (std::size_t at = 0; (at = source.find("COLUMNS")) != std::string::npos;)
      source.replace(at, 7, std::to_string(columns));
    const std::string name = "dots of blocks of " + std::to_string(columns) + " columns";
    add(name, source, {"block_dots"}, dots, {}, rows_of(3, columns));
    add(name + ", one row", source, {"block_dots"}, dots, {{"B", 1}, {"P", 3}}, rows_of(2, columns));
  }
  add("dots of blocks of plain bytes", kPlainBlockDots, {"block_dots"}, dots, {}, rows_of(3, 32));
}

}  // namespace ferry::test
