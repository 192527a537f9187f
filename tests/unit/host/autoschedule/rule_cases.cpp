#include "tests/unit/host/autoschedule/rule_cases.h"

#include "crosscompile/target/resolve.h"
#include "tests/support/schedules/cpu_with_vectors.h"
#include "tests/unit/host/autoschedule/block_rule_cases.h"

namespace ferry::test {

namespace {

using Sizes = std::map<std::string, std::int64_t>;

// Integers, so that reordered sums are equal.
constexpr const char* kProduct = "def f(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
constexpr const char* kConstantProduct = "def f(int(M,K) A, const int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
constexpr const char* kFinishedProduct =
    "def f(int(M,K) A, int(K,N) B, int(N) D) -> (Y) {\n  C(m,n) +=! A(m,k) * B(k,n)\n  E(m,n) = C(m,n) * 3\n"
    "  Y(m,n) = max(E(m,n) + D(n), 0)\n}";
constexpr const char* kThinProduct = "def f(int(M,K) A, int(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
constexpr const char* kThinBatches =
    "def f(int(B,M,K) A, int(B,K,N) X, int(N) D) -> (Y) {\n  C(b,n,m) +=! A(b,m,k) * X(b,k,n)\n"
    "  Y(b,n,m) = max(C(b,n,m) + D(n), 0)\n}";
constexpr const char* kConvolution =
    "def f(int(N,5,9,7) I, int(19,5,3,2) K) -> (Y) { Y(n,o,h,w) +=! I(n,c,h+kh,w+kw) * K(o,c,kh,kw) }";
// Channels in blocks of LANES.
constexpr const char* kBlockedConvolution =
    "def f(int(N,C,H,W,LANES) I, const int(O,C,3,2,LANES,LANES) K, int(O,LANES) B) -> (Y) {\n"
    "  S(n,o,h,w,v) +=! I(n,c,h+kh,w+kw,u) * K(o,c,kh,kw,u,v) where h in 0:H-2, w in 0:W-1\n"
    "  Y(n,o,h,w,v) = max(S(n,o,h,w,v) + B(o,v), 0)\n}";
// The same with filters in another order, which a stage puts into blocks.
constexpr const char* kPackedConvolution =
    "def f(int(N,C,H,W,LANES) I, const int(CO,CI,3,2) K, int(O,LANES) B) -> (Y) {\n"
    "  P(o,c,kh,kw,u,v) = K(o*LANES+v,c*LANES+u,kh,kw) where o in 0:O, c in 0:C, u in 0:LANES, v in 0:LANES\n"
    "  S(n,o,h,w,v) +=! I(n,c,h+kh,w+kw,u) * P(o,c,kh,kw,u,v) where h in 0:H-2, w in 0:W-1\n"
    "  Y(n,o,h,w,v) = max(S(n,o,h,w,v) + B(o,v), 0)\n}";
// Transforms as in a Winograd convolution, but for the factors that integers lack.
constexpr const char* kWinograd =
    "def f(int(N,C,H,W,LANES) X, const int(O,C,3,3,LANES,LANES) K, int(N,O,H,W,LANES) R) -> (Y) {\n"
    "  A(i,s,o,c,u,v) = i == 0 ? K(o,c,0,s,u,v) : i == 1 ? K(o,c,0,s,u,v) + K(o,c,1,s,u,v) + K(o,c,2,s,u,v)"
    " : i == 2 ? K(o,c,0,s,u,v) - K(o,c,1,s,u,v) + K(o,c,2,s,u,v) : K(o,c,2,s,u,v) where i in 0:4\n"
    "  U(i,j,o,c,u,v) = j == 0 ? A(i,0,o,c,u,v) : j == 1 ? A(i,0,o,c,u,v) + A(i,1,o,c,u,v) + A(i,2,o,c,u,v)"
    " : j == 2 ? A(i,0,o,c,u,v) - A(i,1,o,c,u,v) + A(i,2,o,c,u,v) : A(i,2,o,c,u,v) where j in 0:4\n"
    "  P(n,c,h,w,u) = h >= 1 && h <= H && w >= 1 && w <= W ? X(n,c,h-1,w-1,u) : 0 where h in 0:H+4, w in 0:W+4\n"
    "  B(n,c,y,x,i,j,u) = i == 0 ? P(n,c,2*y,2*x+j,u) - P(n,c,2*y+2,2*x+j,u)"
    " : i == 1 ? P(n,c,2*y+1,2*x+j,u) + P(n,c,2*y+2,2*x+j,u) : i == 2 ? P(n,c,2*y+2,2*x+j,u) - P(n,c,2*y+1,2*x+j,u)"
    " : P(n,c,2*y+3,2*x+j,u) - P(n,c,2*y+1,2*x+j,u)"
    " where i in 0:4, j in 0:4, y in 0:(H+1)/2, x in 0:(W+1)/2\n"
    "  V(i,j,n,c,y,x,u) = j == 0 ? B(n,c,y,x,i,0,u) - B(n,c,y,x,i,2,u) : j == 1 ? B(n,c,y,x,i,1,u) + B(n,c,y,x,i,2,u)"
    " : j == 2 ? B(n,c,y,x,i,2,u) - B(n,c,y,x,i,1,u) : B(n,c,y,x,i,3,u) - B(n,c,y,x,i,1,u) where j in 0:4\n"
    "  M(i,j,n,o,y,x,v) +=! V(i,j,n,c,y,x,u) * U(i,j,o,c,u,v)\n"
    "  Z(n,o,y,x,k,j,v) = k == 0 ? M(0,j,n,o,y,x,v) + M(1,j,n,o,y,x,v) + M(2,j,n,o,y,x,v)"
    " : M(1,j,n,o,y,x,v) - M(2,j,n,o,y,x,v) + M(3,j,n,o,y,x,v) where k in 0:2\n"
    "  S(n,o,h,w,v) = w % 2 == 0 ? Z(n,o,h/2,w/2,h%2,0,v) + Z(n,o,h/2,w/2,h%2,1,v) + Z(n,o,h/2,w/2,h%2,2,v)"
    " : Z(n,o,h/2,w/2,h%2,1,v) - Z(n,o,h/2,w/2,h%2,2,v) + Z(n,o,h/2,w/2,h%2,3,v) where h in 0:H, w in 0:W\n"
    "  Y(n,o,h,w,v) = EPILOGUE\n}";
constexpr const char* kStencil =
    "def f(int(C,H,W) I, int(C,3,3) K) -> (Y) {\n"
    "  P(c,h,w) = h >= 1 && h <= H && w >= 1 && w <= W ? I(c,h-1,w-1) : 0 where c in 0:C, h in 0:H+2, w in 0:W+2\n"
    "  Y(c,h,w) +=! P(c,h+kh,w+kw) * K(c,kh,kw)\n}";
constexpr const char* kFinishedStencil =
    "def f(int(C,H,W) I, int(C,2,3) K) -> (Y) {\n"
    "  S(c,h,w) +=! I(c,h+kh,w+kw) * K(c,kh,kw) where h in 0:H-1, w in 0:W-2\n  Y(c,h,w) = max(S(c,h,w), 0)\n}";
// Depthwise convolutions and pools of channels in blocks of LANES, with borders.
constexpr const char* kGroupedProduct =
    "def f(uint8(M,K,4) A, int8(O,K,LANES,4) B, int(O,LANES) D) -> (Y) {\n"
    "  C(m,o,i) +=! int(A(m,k,r)) * int(B(o,k,i,r))\n"
    "  Y(m,o,i) = max(C(m,o,i) + D(o,i), 0)\n}";
constexpr const char* kBlockedDepthwise =
    "def f(int(C,H,W,LANES) I, const int(K,3,3) F, int(C,LANES) B) -> (Y) {\n"
    "  G(c,kh,kw,v) = F(c*LANES+v,kh,kw) where c in 0:C, v in 0:LANES\n"
    "  P(c,h,w,v) = h >= 1 && h <= H && w >= 1 && w <= W ? I(c,h-1,w-1,v) : 0 where h in 0:H+2, w in 0:W+2\n"
    "  S(c,h,w,v) +=! P(c,h+kh,w+kw,v) * G(c,kh,kw,v)\n"
    "  Y(c,h,w,v) = max(S(c,h,w,v) + B(c,v), 0)\n}";
constexpr const char* kBlockedPooling =
    "def f(int(C,H,W,LANES) I) -> (Y) {\n"
    "  P(c,h,w,v) = h >= 1 && h <= H && w >= 1 ? I(c,h-1,w-1,v) : -9 where h in 0:H+2, w in 0:W+1\n"
    "  Y(c,h,w,v) max=! P(c,2*h+kh,2*w+kw,v) where kh in 0:3, kw in 0:2, h in 0:(H+1)/2, w in 0:W/2\n}";
constexpr const char* kFusedDepthwise =
    "def f(int(N,2,13,11,LANES) X, const int(BLOCKS,2,LANES,LANES) W, int(BLOCKS,LANES) B, const int(BLOCKS,3,3,LANES) "
    "F) -> (Y) {\n"
    "  P(n,o,h,w,v) +=! X(n,i,h,w,k) * W(o,i,k,v)\n"
    "  A(n,o,h,w,v) = max(P(n,o,h,w,v) + B(o,v), 0)\n"
    "  Q(n,o,h,w,v) = h >= 1 && h <= 13 && w >= 1 && w <= 11 ? A(n,o,h-1,w-1,v) : 0 where h in 0:15, w in 0:13\n"
    "  S(n,o,h,w,v) +=! Q(n,o,h+i,w+j,v) * F(o,i,j,v) where h in 0:13, w in 0:11\n"
    "  Y(n,o,h,w,v) = max(S(n,o,h,w,v) - B(o,v), 0)\n}";
constexpr const char* kFusedPooling =
    "def f(int(N,2,13,11,LANES) X, const int(BLOCKS,2,3,3,LANES,LANES) W) -> (Y) {\n"
    "  P(n,o,h,w,v) +=! X(n,i,2*h+a,w+b,k) * W(o,i,a,b,k,v) where h in 0:6, w in 0:9, a in 0:3, b in 0:3\n"
    "  Y(n,o,h,w,v) max=! P(n,o,2*h+i,2*w+j,v) where h in 0:3, w in 0:4, i in 0:2, j in 0:2\n}";
constexpr const char* kPooling =
    "def f(int(C,H,W) X) -> (Y) { Y(c,h,w) max=! X(c,2*h+a,2*w+b) where a in 0:2, b in 0:2, h in 0:H/2, w in 0:W/2 }";
constexpr const char* kRowSums = "def f(int(M,N) A) -> (S) { S(m) +=! A(m,n) }";
constexpr const char* kColumnSums = "def f(int(M,N) A) -> (S) { S(n) +=! A(m,n) }";
constexpr const char* kPackedProduct =
    "def f(int(B,64) X, uint8(32,N) W, int(N) S) -> (Y) {\n"
    "  Y(b,n) +=! X(b,j*16+k*2+e) * int((W(j*8+k,n) >> (e*4)) & 15) * S(n) where j in 0:4, k in 0:8, e in 0:2\n}";
// The same with scales of blocks, whose sums are a stage.
constexpr const char* kFinishedSums =
    "def f(int(B,M,N) A) -> (Y) {\n  S(b,n) +=! A(b,m,n)\n  Y(b,n) = S(b,n) / 3 + n\n}";
constexpr const char* kTransposedOperand =
    "def f(int(C) S, int(H,W,C) A, int(C,H,W) R) -> (Y) {\n"
    "  T(c,h,w) = A(h,w,c)\n  P(c,h,w) = S(c) * T(c,h,w)\n  Y(c,h,w) = P(c,h,w) + R(c,h,w) }";
constexpr const char* kTransposed = "def f(int(M,N) A) -> (B) { B(i,j) = A(j,i) + 1 }";
constexpr const char* kPixels =
    "def f(uint8(3,M,N) A) -> (B) { B(i,j,c) = i >= 1 && j >= 2 ? A(min(c,2),i-1,j-2) : uint8(7)"
    " where i in 0:M+1, j in 0:N+2, c in 0:4 }";
constexpr const char* kElements = "def f(int(B,M,N) X, int(N) Y) -> (Z) { Z(b,m,n) = X(b,m,n) * 3 + Y(n) }";
constexpr const char* kRowScan = "def f(int(M,N) X) -> (S) { S(m,n) = X(m,n) + (n >= 1 ? S(m,n-1) : 0) along n }";
constexpr const char* kColumnScan = "def f(int(M,N) X) -> (S) { S(m,n) = X(m,n) + (m >= 1 ? S(m-1,n) : 0) along m }";
constexpr const char* kUpdates = "def f(uint8(M) I, int(M,N) X, int(256,N) Y) -> (Y) { Y(I(u),n) += X(u,n) along u }";
constexpr const char* kRows =
    "def f(int(B,M,N) A) -> (Y) {\n  top(b,m) max=! A(b,m,n)\n  e(b,m,n) = A(b,m,n) * A(b,m,n) - top(b,m)\n"
    "  total(b,m) +=! e(b,m,n)\n  Y(b,m,n) = e(b,m,n) - total(b,m) * 3\n}";
// Attention but for the functions that integers lack, with the sums' rows subtracted from the last product.
constexpr const char* kAttention =
    "def f(int(B,M,K) Q, int(B,N,K) X, int(B,N,D) V, int(M,N) A) -> (Y) {\n"
    "  S(b,m,n) +=! Q(b,m,k) * X(b,n,k)\n  E(b,m,n) = m >= n ? S(b,m,n) * 3 + A(m,n) : -9\n  top(b,m) max=! E(b,m,n)\n"
    "  P(b,m,n) = E(b,m,n) * E(b,m,n) - top(b,m)\n  total(b,m) +=! P(b,m,n)\n"
    "  Z(b,m,d) +=! P(b,m,n) * V(b,n,d)\n  Y(b,m,d) = Z(b,m,d) - total(b,m)\n}";
// The same with columns in rows and columns exchanged, one batch, and weights that the sums of their rows change.
constexpr const char* kPlainAttention =
    "def f(int(M,K) Q, int(K,N) X, int(D,N) V) -> (Y) {\n"
    "  S(m,n) +=! Q(m,k) * X(k,n)\n  total(m) +=! S(m,n)\n  P(m,n) = S(m,n) - total(m)\n"
    "  Y(m,d) +=! P(m,n) * V(d,n)\n}";

const std::vector<Sizes> kProductSizes = {{{"M", 37}, {"K", 17}, {"N", 23}},
                                          {{"M", 0}, {"K", 3}, {"N", 5}},
                                          {{"M", 1}, {"K", 1}, {"N", 1}},
                                          {{"M", 5}, {"K", 0}, {"N", 7}},
                                          {{"M", 2}, {"K", 31}, {"N", 0}}};
const std::vector<Sizes> kImageSizes = {{{"C", 3}, {"H", 13}, {"W", 19}},
                                        {{"C", 1}, {"H", 3}, {"W", 3}},
                                        {{"C", 0}, {"H", 5}, {"W", 7}},
                                        {{"C", 2}, {"H", 7}, {"W", 31}}};
const std::vector<Sizes> kMatrixSizes = {
    {{"M", 31}, {"N", 67}}, {{"M", 0}, {"N", 3}}, {{"M", 1}, {"N", 1}}, {{"M", 3}, {"N", 0}}, {{"M", 7}, {"N", 13}}};
const std::vector<Sizes> kBatchSizes = {{{"B", 3}, {"M", 11}, {"N", 37}},
                                        {{"B", 0}, {"M", 2}, {"N", 3}},
                                        {{"B", 1}, {"M", 1}, {"N", 1}},
                                        {{"B", 2}, {"M", 5}, {"N", 0}}};

const Sizes kImage = {{"N", 1}, {"C", 2}, {"O", 5}, {"H", 9}, {"W", 30}};
const Sizes kSmallImage = {{"N", 1}, {"C", 2}, {"O", 4}, {"H", 9}, {"W", 4}};
const Sizes kBlock = {{"N", 1}, {"C", 2}, {"O", 1}, {"H", 5}, {"W", 19}};
const Sizes kPixel = {{"N", 1}, {"C", 1}, {"O", 3}, {"H", 3}, {"W", 2}};
// A few rows of the largest image and one block of its inputs: the interpreter takes long for all of it.
const Sizes kRowsOfImage = {{"N", 1}, {"C", 1}, {"O", 5}, {"H", 3}, {"W", 30}};
const std::vector<Sizes> kBlockedImages = {kRowsOfImage,
                                           {{"N", 1}, {"C", 2}, {"O", 4}, {"H", 9}, {"W", 4}},
                                           {{"N", 2}, {"C", 1}, {"O", 1}, {"H", 5}, {"W", 17}},
                                           {{"N", 1}, {"C", 0}, {"O", 2}, {"H", 3}, {"W", 2}},
                                           {{"N", 0}, {"C", 1}, {"O", 3}, {"H", 4}, {"W", 5}}};
// For blocks of 16 channels, which hold 16 times as many products as blocks of 4.
const std::vector<Sizes> kWideBlockedImages = {{{"N", 1}, {"C", 1}, {"O", 3}, {"H", 3}, {"W", 30}},
                                               {{"N", 1}, {"C", 2}, {"O", 4}, {"H", 3}, {"W", 4}},
                                               {{"N", 2}, {"C", 1}, {"O", 1}, {"H", 4}, {"W", 17}},
                                               {{"N", 1}, {"C", 0}, {"O", 2}, {"H", 3}, {"W", 2}},
                                               {{"N", 0}, {"C", 1}, {"O", 3}, {"H", 4}, {"W", 5}}};

const Sizes kTiles = {{"N", 1}, {"C", 1}, {"O", 3}, {"H", 3}, {"W", 5}};
const std::vector<Sizes> kImagesOfTiles = {{{"N", 1}, {"C", 1}, {"O", 3}, {"H", 3}, {"W", 5}},
                                           {{"N", 2}, {"C", 2}, {"O", 1}, {"H", 1}, {"W", 3}},
                                           {{"N", 1}, {"C", 0}, {"O", 1}, {"H", 2}, {"W", 2}}};

// Replaces LANES by the number of 32-bit elements of a vector.
std::string with_lanes(std::string source, std::uint32_t bits) {
  const std::string word = "LANES";
  for (std::size_t at; (at = source.find(word)) != std::string::npos;)
    source.replace(at, word.size(), std::to_string(bits / 32));
  return source;
}

// Winograd convolutions with epilogues: one that reads the result once and is inlined, one that reads it twice, and one
// that reads other elements.
void add_winograd_cases(std::vector<RuleCase>& cases) {
  const Target cpu = small_cpu(64);
  for (const auto& [epilogue, value] :
       {std::pair("inlined", "max(S(n,o,h,w,v) + R(n,o,h,w,v), 0)"), std::pair("fused", "S(n,o,h,w,v) * S(n,o,h,w,v)"),
        std::pair("apart", "S(n,o,h,W-1-w,v) + R(n,o,h,w,v)")}) {
    std::string source = with_lanes(kWinograd, cpu.vector_bits);
    source.replace(source.find("EPILOGUE"), 8, value);
    cases.push_back({std::string("Winograd convolution with an epilogue that is ") + epilogue,
                     std::move(source),
                     {"winograd"},
                     cpu,
                     kTiles,
                     kImagesOfTiles});
  }
}

void add_attention_cases(std::vector<RuleCase>& cases, std::uint32_t bits) {
  const Target cpu = small_cpu(bits, 4096, 1 << 16);
  const std::vector<Sizes> sizes = {{{"B", 2}, {"M", 17}, {"N", 13}, {"K", 5}, {"D", 19}},
                                    {{"B", 1}, {"M", 1}, {"N", 1}, {"K", 1}, {"D", 1}},
                                    {{"B", 1}, {"M", 9}, {"N", 37}, {"K", 3}, {"D", 4}},
                                    {{"B", 3}, {"M", 2}, {"N", 0}, {"K", 2}, {"D", 3}},
                                    {{"B", 0}, {"M", 5}, {"N", 3}, {"K", 0}, {"D", 2}}};
  for (const bool is_known : {true, false}) {
    const std::string suffix = std::string(is_known ? ", " : " of open sizes, ") + std::to_string(bits) + " bits";
    const auto add = [&](const std::string& name, const char* source, std::vector<std::string> rules) {
      cases.push_back({name + suffix, source, std::move(rules), cpu,
                       is_known ? Sizes{{"B", 3}, {"M", 37}, {"N", 43}, {"K", 8}, {"D", 16}} : Sizes{}, sizes});
    };
    add("attention", kAttention, {"attention", "injective", "reduction"});
    add("attention of one batch", kPlainAttention, {"attention", "injective", "reduction"});
  }
}

// Windows over images that a contraction computes: of blocks of rows, with blocks of channels that tiles divide and do
// not divide, and of whole images.
void add_fused_window_cases(std::vector<RuleCase>& cases, std::uint32_t bits) {
  const std::vector<Sizes> sizes = {{{"N", 2}}, {{"N", 1}}, {{"N", 0}}};
  for (const std::uint64_t l2_bytes : {256, 4096, 24576})
    for (const std::int64_t blocks : {3, 4}) {
      const auto add = [&](const std::string& name, const char* text) {
        std::string source = with_lanes(text, bits);
        for (std::size_t at; (at = source.find("BLOCKS")) != std::string::npos;)
          source.replace(at, 6, std::to_string(blocks));
        cases.push_back({name + ", " + std::to_string(blocks) + " blocks of channels, cache of " +
                             std::to_string(l2_bytes) + " bytes, " + std::to_string(bits) + "-bit vectors",
                         std::move(source),
                         {"fused_window"},
                         small_cpu(bits, 256, l2_bytes),
                         {{"N", l2_bytes == 4096 ? 2 : 1}},
                         sizes});
      };
      add("depthwise convolution of a convolution", kFusedDepthwise);
      if (l2_bytes < 1024) add("pooling of a convolution", kFusedPooling);
    }
}

// Sums that an instruction adds up in groups of four bytes.
void add_dot_cases(std::vector<RuleCase>& cases) {
  const std::string source = with_lanes(kGroupedProduct, 256);
  Target cpu = small_cpu(256);
  cpu.capabilities.vnni_256 = true;
  const std::vector<Sizes> sizes = {
      {{"M", 5}, {"K", 3}, {"O", 3}}, {{"M", 14}, {"K", 1}, {"O", 4}}, {{"M", 1}, {"K", 2}, {"O", 1}}};
  for (const std::int64_t blocks : {1, 3, 4})
    cases.push_back({"product of bytes, blocks of columns: " + std::to_string(blocks),
                     source,
                     {"blocked_contraction"},
                     cpu,
                     {{"M", 37}, {"K", 6}, {"O", blocks}},
                     sizes});
}

void add_cpu_cases(std::vector<RuleCase>& cases, std::uint32_t bits) {
  const Target cpu = small_cpu(bits), roomy = small_cpu(bits, 256, 1 << 20);
  const std::string suffix = ", " + std::to_string(bits) + "-bit vectors";
  const auto add = [&](const std::string& name, const std::string& source, std::vector<std::string> rules,
                       const Target& target, const Sizes& expected, const std::vector<Sizes>& sizes) {
    cases.push_back({name + suffix, source, std::move(rules), target, expected, sizes});
  };
  const Sizes product = {{"M", 37}, {"K", 17}, {"N", 23}}, deep = {{"M", 33}, {"K", 1601}, {"N", 19}};
  const std::vector<Sizes> deep_sizes = {{{"M", 33}, {"K", 151}, {"N", 19}}, {{"M", 3}, {"K", 1}, {"N", 1}}};
  add("product, rows outside", kProduct, {"blocked_contraction"}, cpu, product, kProductSizes);
  add("product, columns outside", kProduct, {"blocked_contraction"}, roomy, product, kProductSizes);
  add("deep product", kProduct, {"blocked_contraction"}, cpu, deep, deep_sizes);
  add("product with an epilogue", kFinishedProduct, {"blocked_contraction"}, roomy, product, kProductSizes);
  add("deep product with an epilogue", kFinishedProduct, {"blocked_contraction", "injective"}, cpu, deep, deep_sizes);
  add("product with constant columns", kConstantProduct, {"blocked_contraction"}, cpu, product, kProductSizes);
  add("convolution", kConvolution, {"blocked_contraction"}, cpu, {{"N", 2}}, {{{"N", 2}}, {{"N", 0}}});
  const std::string blocked = with_lanes(kBlockedConvolution, bits);
  const bool is_wide = bits > 128;
  const std::vector<Sizes>& blocked_images = is_wide ? kWideBlockedImages : kBlockedImages;
  add("convolution of blocks of channels", blocked, {"blocked_contraction"}, cpu, kImage, blocked_images);
  add("convolution of blocks of channels in rows of few pixels", blocked, {"blocked_contraction"}, cpu, kSmallImage,
      blocked_images);
  // Filters that fit the first-level cache are packed too.
  const std::string packed = with_lanes(kPackedConvolution, bits);
  const Target large = small_cpu(bits, 1 << 20, 1 << 20);
  const auto with_channels = [&](Sizes image) {
    image["CO"] = image.at("O") * bits / 32;
    image["CI"] = image.at("C") * bits / 32;
    return image;
  };
  std::vector<Sizes> packed_sizes;
  for (const Sizes& image : {blocked_images[0], blocked_images[1], kBlock, kPixel})
    packed_sizes.push_back(with_channels(image));
  const auto add_packed = [&](const std::string& name, const Sizes& expected) {
    add(name, packed, {"blocked_contraction"}, large, with_channels(expected), packed_sizes);
  };
  add_packed("convolution with filters in rows", kImage);
  add_packed("convolution to one block of channels", kBlock);
  add_packed("convolution to one pixel", kPixel);
  std::vector<Sizes> depthwise_sizes;
  for (const auto& [height, width] : {std::pair{5, 31}, {4, 7}, {1, 1}, {3, 14}, {2, 20}})
    depthwise_sizes.push_back({{"C", 2}, {"K", 2 * bits / 32}, {"H", height}, {"W", width}});
  const std::string depthwise = with_lanes(kBlockedDepthwise, bits), pooling = with_lanes(kBlockedPooling, bits);
  for (const Sizes& sizes : {depthwise_sizes[0], depthwise_sizes[1]}) {
    const std::string size = " in blocks, rows of " + std::to_string(sizes.at("W")) + " pixels";
    add("depthwise convolution" + size, depthwise, {"blocked_window", "parallel"}, cpu, sizes, depthwise_sizes);
    add("pooling" + size, pooling, {"blocked_window", "parallel"}, cpu, sizes, depthwise_sizes);
  }
  const Sizes vector = {{"M", 1}, {"K", 67}, {"N", 2500}};
  const std::vector<Sizes> vector_sizes = {
      {{"M", 1}, {"K", 67}, {"N", 271}}, {{"M", 2}, {"K", 5}, {"N", 3}}, {{"M", 0}, {"K", 1}, {"N", 1}}};
  add("vector and matrix", kProduct, {"gemv", "parallel"}, cpu, vector, vector_sizes);
  add("vector and constant matrix", kConstantProduct, {"gemv", "parallel"}, cpu, vector, vector_sizes);
  const Sizes thin = {{"B", 2}, {"M", 37}, {"K", 67}, {"N", 3}};
  const std::vector<Sizes> thin_sizes = {{{"B", 2}, {"M", 13}, {"K", 37}, {"N", 3}},
                                         {{"B", 1}, {"M", 7}, {"K", 5}, {"N", 8}},
                                         {{"B", 1}, {"M", 1}, {"K", 1}, {"N", 1}},
                                         {{"B", 0}, {"M", 3}, {"K", 2}, {"N", 2}},
                                         {{"B", 1}, {"M", 3}, {"K", 0}, {"N", 5}}};
  std::vector<Sizes> thin_matrices;
  for (Sizes sizes : thin_sizes) {
    sizes.erase("B");
    thin_matrices.push_back(std::move(sizes));
  }
  const Sizes thin_matrix = {{"M", 37}, {"K", 67}, {"N", 3}};
  add("product with few columns", kProduct, {"inner_products", "parallel"}, roomy, thin_matrix, thin_matrices);
  add("product with few columns in rows", kThinProduct, {"inner_products", "parallel"}, roomy, thin_matrix,
      thin_matrices);
  add("product with few constant columns", kConstantProduct, {"inner_products", "parallel"}, roomy, thin_matrix,
      thin_matrices);
  add("products with few columns and an epilogue", kThinBatches,
      {"inner_products", "parallel", "injective", "parallel"}, roomy, thin, thin_sizes);
  add("stencil", kStencil, {"stencil", "parallel"}, cpu, {}, kImageSizes);
  add("stencil of few rows", kStencil, {"stencil"}, cpu, {{"C", 3}, {"H", 7}, {"W", 7}}, kImageSizes);
  add("stencil with an epilogue", kFinishedStencil, {"stencil", "parallel"}, cpu, {}, kImageSizes);
  add("pooling", kPooling, {"reduction", "parallel"}, cpu, {}, kImageSizes);
  add("large pooling", kPooling, {"nontemporal_stores", "reduction", "read_ahead", "parallel"}, cpu,
      {{"C", 512}, {"H", 512}, {"W", 512}}, kImageSizes);
  add("sums of rows", kRowSums, {"reduction", "parallel"}, cpu, {}, kMatrixSizes);
  add("sums of columns", kColumnSums, {"reduction", "parallel"}, cpu, {{"M", 31}, {"N", 67}}, kMatrixSizes);
  add("product with packed columns", kPackedProduct, {"reduction", "parallel"}, cpu, {{"B", 3}, {"N", 67}},
      {{{"B", 3}, {"N", 67}}, {{"B", 0}, {"N", 3}}, {{"B", 1}, {"N", 1}}, {{"B", 13}, {"N", 5}}});
  add("sums with an epilogue", kFinishedSums, {"reduction", "parallel"}, cpu, {}, kBatchSizes);
  add("transposition", kTransposed, {"transposed", "parallel"}, cpu, {}, kMatrixSizes);
  add("planes to pixels", kPixels, {"transposed", "parallel"}, small_cpu(512), {}, kMatrixSizes);
  add("elements with a transposed operand", kTransposedOperand, {"transposed_operand", "parallel"}, cpu, {},
      kImageSizes);
  add("few elements with a transposed operand", kTransposedOperand, {"transposed_operand", "parallel"}, cpu,
      {{"C", 67}, {"H", 31}, {"W", 7}}, kImageSizes);
  add("elements", kElements, {"injective", "parallel"}, cpu, {}, kBatchSizes);
  add("running sums of columns", kColumnScan, {"in_sequence", "parallel"}, cpu, {}, kMatrixSizes);
  add("updates of rows", kUpdates, {"injective", "parallel", "in_sequence", "parallel"}, cpu, {}, kMatrixSizes);
  add("rows", kRows, {"row_fusion", "injective", "reduction", "parallel"}, small_cpu(bits, 4096, 1 << 20), {},
      kBatchSizes);
}

constexpr const char* kFixedProduct = "def f(int(16,40) A, int(16,96) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }";
// For tensor cores.
constexpr const char* kHalfProduct =
    "def f(float16(64,48) A, float16(48,96) B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }";

void add_gpu_cases(std::vector<RuleCase>& cases, const std::string& target) {
  const auto add = [&](const std::string& name, const char* source, std::vector<std::string> rules,
                       const std::vector<Sizes>& sizes) {
    cases.push_back({name + ", " + target, source, std::move(rules), resolve_target(target), {}, sizes});
  };
  add("product", kProduct, {"gpu_contraction"}, kProductSizes);
  add("product with an epilogue", kFinishedProduct, {"gpu_contraction"}, kProductSizes);
  add("product of fixed sizes", kFixedProduct, {"gpu_contraction"}, {{}});
  if (resolve_target(target).capabilities.tensor_cores)
    add("product of halves", kHalfProduct, {"gpu_tensor_cores", "gpu_contraction"}, {{}});
  add("elements", kElements, {"gpu_elements"}, kBatchSizes);
  add("transposition", kTransposed, {"gpu_elements"}, kMatrixSizes);
  add("sums of rows", kRowSums, {"gpu_rows"}, kMatrixSizes);
  add("sums of columns", kColumnSums, {"gpu_reduction"}, kMatrixSizes);
  add("sums with an epilogue", kFinishedSums, {"gpu_reduction"}, kBatchSizes);
  add("stencil", kStencil, {"gpu_reduction"}, kImageSizes);
  add("running sums of rows", kRowScan, {"gpu_sequences"}, kMatrixSizes);
  add("running sums of columns", kColumnScan, {"gpu_sequences"}, kMatrixSizes);
  add("updates of rows", kUpdates, {"gpu_elements", "gpu_sequences"}, kMatrixSizes);
}

}  // namespace

Target small_cpu(std::uint32_t vector_bits, std::uint64_t l1_bytes, std::uint64_t l2_bytes) {
  Target target = cpu_with_vectors(vector_bits);
  target.l1_bytes = l1_bytes;
  target.l2_bytes = l2_bytes;
  return target;
}

const std::vector<RuleCase>& rule_cases() {
  static const std::vector<RuleCase> all = [] {
    std::vector<RuleCase> cases;
    for (const std::uint32_t bits : {128U, 512U}) {
      add_cpu_cases(cases, bits);
      add_attention_cases(cases, bits);
      add_fused_window_cases(cases, bits);
      add_block_cases(cases, bits);
    }
    add_winograd_cases(cases);
    add_dot_cases(cases);
    add_byte_product_cases(cases);
    for (const char* target : {"cuda -arch=sm_80", "opencl"}) add_gpu_cases(cases, target);
    return cases;
  }();
  return all;
}

}  // namespace ferry::test
