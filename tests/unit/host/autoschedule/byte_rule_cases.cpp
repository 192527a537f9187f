// Programs of products of bytes: matrices that rules pack in groups, and AMX's tiles.
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace ferry::test {
namespace {

// Matrix products of bytes whose columns a rule packs in groups. Words stand for the types, and for how B is indexed.
constexpr const char* kByteProduct = "def f(LEFT(M,K) A, RIGHT(K,N) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }";
constexpr const char* kTransposedByteProduct =
    "def f(LEFT(K,M) A, const RIGHT(N,K) B) -> (C) { C(m,n) +=! int(A(k,m)) * int(B(n,k)) }";
constexpr const char* kFinishedByteProduct =
    "def f(LEFT(D,M,K) A, RIGHT(D,K,N) B, int(N) S) -> (Y) {\n"
    "  C(d,m,n) +=! int(A(d,m,k)) * int(B(d,k,n))\n  E(d,m,n) = C(d,m,n) * 3\n"
    "  Y(d,m,n) = max(E(d,m,n) + S(n), 0)\n}";

constexpr const char* kFloatProduct =
    "def f(LEFT(M,K) A, RIGHT(K,N) B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }";

// The same of groups of four in order: convolutions of channels in blocks, and products with packed matrices.
constexpr const char* kByteConvolution =
    "def f(uint8(C,H,W,64) X, int8(O,C,3,3,16,64,4) B, int(O,64) D) -> (Y) {\n"
    "  P(c,h,w,v) = h >= 1 && h <= H && w >= 1 && w <= W ? X(c,h-1,w-1,v) : uint8(7)"
    " where c in 0:C, h in 0:H+2, w in 0:W+2, v in 0:64\n"
    "  S(o,h,w,v) +=! int(P(c,h+kh,w+kw,g*4+r)) * int(B(o,c,kh,kw,g,v,r)) where h in 0:H, w in 0:W, g in 0:16,"
    " r in 0:4\n"
    "  Y(o,h,w,v) = max(S(o,h,w,v) + D(o,v), 0)\n}";
constexpr const char* kPackedByteProduct =
    "def f(uint8(M,32,4) A, int8(O,32,16,4) B, int(O,16) D) -> (Y) {\n"
    "  C(m,o,i) +=! int(A(m,k,r)) * int(B(o,k,i,r))\n  Y(m,o,i) = max(C(m,o,i) + D(o,i), 0)\n}";
constexpr const char* kConstantByteProduct =
    "def f(uint8(M,GROUPS,4) A, const int8(O,GROUPS,16,4) B, int(O,16) D) -> (Y) {\n"
    "  C(m,o,i) +=! int(A(m,k,r)) * int(B(o,k,i,r))\n  Y(m,o,i) = max(C(m,o,i) + D(o,i), 0)\n}";
constexpr const char* kPairedByteProduct =
    "def f(uint8(M,32,4) A, int8(4,32,16,4) B, int(4,16) D) -> (Y) {\n"
    "  C(m,o,i) +=! int(A(m,k,r)) * int(B(o,k,i,r))\n  Y(m,o,i) = max(C(m,o,i) + D(o,i), 0)\n}";

std::string with_types(std::string source, const std::string& left, const std::string& right) {
  source.replace(source.find("LEFT"), 4, left);
  return source.replace(source.find("RIGHT"), 5, right);
}

using Sizes = std::map<std::string, std::int64_t>;

void add_packed_dot_cases(std::vector<RuleCase>& cases) {
  Target vnni = small_cpu(256), pairs = small_cpu(128), lanes = small_cpu(128, 256, 1 << 20);
  vnni.capabilities.vnni_256 = true;
  pairs.capabilities.neon_pairs = true;
  lanes.capabilities.neon_pairs = lanes.capabilities.neon_dot = true;
  const std::vector<Sizes> sizes = {{{"M", 10}, {"K", 19}, {"N", 19}, {"D", 2}},
                                    {{"M", 9}, {"K", 8}, {"N", 16}, {"D", 1}},
                                    {{"M", 1}, {"K", 1}, {"N", 1}, {"D", 1}},
                                    {{"M", 3}, {"K", 0}, {"N", 7}, {"D", 1}},
                                    {{"M", 0}, {"K", 9}, {"N", 5}, {"D", 3}}};
  const auto add = [&](const std::string& what, const std::string& source, const Target& target,
                       const Sizes& expected) {
    cases.push_back({what, source, {"packed_dots"}, target, expected, sizes});
  };
  const Sizes known = {{"M", 37}, {"K", 18}, {"N", 23}};
  add("product of int8 with VNNI", with_types(kByteProduct, "int8", "int8"), vnni, known);
  add("product of uint8 and int8 with VNNI", with_types(kByteProduct, "uint8", "int8"), vnni, {});
  add("product of int8 as pairs", with_types(kByteProduct, "int8", "int8"), pairs, {});
  add("product of transposed uint8 as pairs", with_types(kTransposedByteProduct, "uint8", "uint8"), pairs, known);
  add("products of int8 and uint8 with an epilogue", with_types(kFinishedByteProduct, "int8", "uint8"), lanes, {});
}

// Products of bytes in AMX's tiles.
void add_tile_cases(std::vector<RuleCase>& cases) {
  Target cpu = small_cpu(512), roomy = small_cpu(512, 256, 1 << 20);
  for (Target* target : {&cpu, &roomy}) {
    target->capabilities.vnni_512 = target->capabilities.amx_int8 = true;
    target->capabilities.row_prefetch = true;
  }
  const std::vector<Sizes> sizes = {{{"M", 37}, {"K", 70}, {"N", 35}, {"D", 2}},
                                    {{"M", 16}, {"K", 64}, {"N", 32}, {"D", 1}},
                                    {{"M", 1}, {"K", 1}, {"N", 1}, {"D", 1}},
                                    {{"M", 3}, {"K", 0}, {"N", 7}, {"D", 1}}};
  const auto add_product = [&](const std::string& what, const std::string& source, const Sizes& expected) {
    cases.push_back({what + " in tiles", source, {"packed_dots"}, cpu, expected, sizes});
  };
  add_product("product of int8", with_types(kByteProduct, "int8", "int8"), {{"M", 37}, {"K", 70}, {"N", 40}});
  add_product("product of uint8 and int8 of open sizes", with_types(kByteProduct, "uint8", "int8"), {});
  add_product("product of transposed uint8", with_types(kTransposedByteProduct, "uint8", "uint8"),
              {{"M", 16}, {"K", 128}, {"N", 16}});
  add_product("products of int8 and uint8 with an epilogue", with_types(kFinishedByteProduct, "int8", "uint8"), {});
  Target floats = small_cpu(512);
  floats.capabilities.bf16_dot_512 = floats.capabilities.amx_bf16 = true;
  cases.push_back({"product of bfloat16 in tiles",
                   with_types(kFloatProduct, "bfloat16", "bfloat16"),
                   {"packed_dots"},
                   floats,
                   {},
                   sizes});
  for (const std::int64_t width : {7, 28, 40}) {
    for (const Target& target : {cpu, roomy})
      cases.push_back({"convolution of bytes in tiles, rows of " + std::to_string(width) + " pixels",
                       kByteConvolution,
                       {"tile_products"},
                       target,
                       {{"C", 2}, {"O", 2}, {"H", 5}, {"W", width}},
                       {{{"C", 1}, {"O", 1}, {"H", 2}, {"W", width}},
                        {{"C", 2}, {"O", 2}, {"H", 2}, {"W", 3}},
                        {{"C", 1}, {"O", 1}, {"H", 1}, {"W", 19}}}});
  }
  for (const std::int64_t blocks : {1, 2})
    cases.push_back({"product of packed bytes in tiles, blocks of columns: " + std::to_string(blocks),
                     blocks == 1 ? kPackedByteProduct : kPairedByteProduct,
                     {"tile_products"},
                     cpu,
                     {{"M", 40}, {"O", 3}},
                     {{{"M", 40}, {"O", 3}}, {{"M", 5}, {"O", 1}}, {{"M", 1}, {"O", 2}}}});
  // Sums of one step, and of several, in which columns of the next one are prefetched.
  for (const std::string groups : {"6", "16", "32"})
    cases.push_back({"product of constant bytes in tiles, groups of 4: " + groups,
                     std::regex_replace(kConstantByteProduct, std::regex("GROUPS"), groups),
                     {"tile_products"},
                     cpu,
                     {{"M", 40}, {"O", 3}},
                     {{{"M", 40}, {"O", 3}}, {{"M", 5}, {"O", 1}}, {{"M", 1}, {"O", 2}}}});
}

}  // namespace

void add_byte_product_cases(std::vector<RuleCase>& cases) {
  add_packed_dot_cases(cases);
  add_tile_cases(cases);
}

}  // namespace ferry::test
