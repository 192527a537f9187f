#include "tests/support/gate/sample_reports.h"

#include <cmath>
#include <limits>

#include "tests/support/seeded.h"

namespace ferry::test {

namespace {

using gate::CaseResult;
using gate::Change;
using gate::Side;
using gate::SideFacts;
using gate::Verdict;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr const char* kScheduleDiff =
    "--- baseline\n+++ current\n@@ -1,4 +1,3 @@\n split C i 4\n-vectorize C j\n-unroll C i.inner\n+unroll C i\n "
    "parallel C io\n";
constexpr const char* kLoopsDiff =
    "--- baseline\n+++ current\n@@ -3,5 +3,5 @@\n   for (i, 0, 128) {\n     for (j, 0, 128) {\n-      C[i, ramp(j, 1, "
    "8)] += "
    "A[i, k] * B[k, ramp(j, 1, 8)]\n+      C[i, j] += A[i, k] * B[k, j]\n     }\n   }\n";
constexpr const char* kAssemblyDiff =
    "--- baseline\n+++ current\n@@ -1,5 +1,6 @@\n mm: loop of 5 instructions\n L1:\n-  vmovups (%rsi,%rax,4), %ymm0\n- "
    " "
    "vfmadd231ps %ymm0, %ymm1, %ymm2\n+  vmovss (%rsi,%rax,4), %xmm0\n+  vmulss %xmm0, %xmm1, %xmm0\n+  vaddss %xmm0, "
    "%xmm2, %xmm2\n   incq %rax\n   jne L1\n";

// Between -1 and 1, more often in the middle.
double noise(Seeded& seeded) {
  return (static_cast<double>(seeded.draw()) + static_cast<double>(seeded.draw())) / 65535.0 - 1;
}

gate::Report new_report(const std::string& suite) {
  gate::Report report;
  report.suite = suite;
  report.baseline = "main";
  report.label = "4f9c2ab";
  report.version = "0.1.0";
  report.started = 1'772'354'436;
  report.elapsed_seconds = 73.25;
  return report;
}

void give_modules(CaseResult& result) {
  SideFacts &baseline = result.sides[Side::baseline], &current = result.sides[Side::current];
  baseline.module.fill(0x3c);
  current.module.fill(0x3d);
  baseline.label = "91be03d";
  current.label = "4f9c2ab";
  baseline.code_bytes = 5120;
  current.code_bytes = 5328;
  baseline.data_bytes = current.data_bytes = 320;
}

CaseResult plain_case(const std::string& name, Verdict verdict, const std::string& reason = {}) {
  CaseResult result;
  result.name = name;
  result.board = "rpi4";
  result.verdict = verdict;
  result.reason = reason;
  result.tolerance = 0.02;
  result.environment = {"rpi4-03", "cortex-a72", "Linux 6.1.0 aarch64", "performance"};
  return result;
}

}  // namespace

std::vector<std::string> hostile_texts() {
  return {"<script>window.hacked=1</script>",
          "\"><img src=x onerror=hacked=1>",
          "' onmouseover='hacked=1",
          "</td></table><h1>owned</h1>",
          "</style></title><b>owned</b>",
          "]]></system-out><testcase/>",
          "&lt;b&gt; &#60;i&#62; &amp;",
          "a|b\\|c || d",
          "`code` ``more`` ```\nfence\n```",
          "**bold** __x__ ~~gone~~ *",
          "@everyone @octocat @org/team",
          "#1 GH-2 owner/repo#3 !4 $5",
          "[link](https://evil.example) <https://evil.example> www.evil.example",
          "![image](https://evil.example/x.png)",
          "</code></details></summary> x",
          "<!-- hidden",
          "javascript:hacked=1//",
          "one\n\n# heading\n| a | b |\n| --- | --- |\r\n- item",
          "\x1b[31mred\x1b[0m\x07\x08",
          std::string("zero\0byte", 9),
          "right\u202eto\u2066left\u200b",
          "not \xff\xfe utf-8 \xc3",
          "\ufffe\uffff no characters",
          std::string(5000, 'x'),
          ""};
}

CaseResult measured_case(const std::string& name, Verdict verdict, double ratio, std::size_t pairs,
                         std::uint32_t seed) {
  CaseResult result = plain_case(name, verdict);
  Seeded seeded(seed);
  give_modules(result);
  const double base = 1e-6 * (1 + seeded.draw() % 5000);
  double sum = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    gate::Pair pair;
    pair.layout = static_cast<std::uint32_t>(i);
    pair.current_first = seeded.draw() % 2 == 1;
    pair.seconds[Side::baseline] = base * (1 + 0.008 * noise(seeded));
    pair.seconds[Side::current] = base * ratio * (1 + 0.008 * noise(seeded));
    pair.log_ratio = std::log(pair.seconds[Side::current] / pair.seconds[Side::baseline]);
    sum += pair.log_ratio;
    if (i % 2 == 1) {
      const auto count = static_cast<double>(i / 2 + 1);
      const double mean = sum / static_cast<double>(i + 1), half = i < 5 ? kInfinity : 0.05 / count;
      result.course.push_back({std::exp(mean), std::exp(mean - half), std::exp(mean + half)});
    }
    result.pairs.push_back(pair);
  }
  if (!result.course.empty()) result.change = result.course.back();
  if (result.course.empty()) result.change = {1, 0, kInfinity};
  result.sides[Side::baseline].seconds = base;
  result.sides[Side::current].seconds = base * ratio;
  return result;
}

gate::Report empty_report() {
  gate::Report report;
  report.suite = "nothing";
  return report;
}

gate::Report varied_report() {
  gate::Report report = new_report("kernels");
  report.cases = {plain_case("add", Verdict::unchanged),
                  plain_case("new_kernel", Verdict::first),
                  measured_case("conv3x3", Verdict::no_change, 1.001, 20, 1),
                  measured_case("softmax", Verdict::faster, 0.93, 14, 2),
                  measured_case("mm", Verdict::slower, 1.058, 16, 3),
                  measured_case("reduce", Verdict::cannot_tell, 1.018, 64, 4),
                  plain_case("layer_norm", Verdict::wrong, "C[3,17] is 0.75, but the baseline computes 0.5"),
                  measured_case("gelu", Verdict::over_limit, 1.002, 12, 5),
                  plain_case("broken", Verdict::failed, "broken.c:3:9: expected ';' after expression"),
                  plain_case("lost", Verdict::infrastructure, "no board of 'rpi4' answered within 60 s"),
                  plain_case("late", Verdict::interrupted)};
  give_modules(report.cases[0]);
  CaseResult& slower = report.cases[4];
  slower.diff = {"", kScheduleDiff, kLoopsDiff, kAssemblyDiff};
  slower.instructions = {{1'048'576, 3'407'872}};
  CaseResult& over = report.cases[7];
  over.limits = {1e-9, 4096, 0.5};
  over.share_of_peak = 0.31;
  over.reason = "its code and data have 5.52 KiB, and the suite allows 4 KiB";
  report.cases[5].warnings = {"the processor's frequency changed between pairs", "two pairs were repeated"};
  report.cases[6].inputs = "--size M=64,N=64 --arg A=f32[64,64]:random --seed 0";
  report.cases[9].tries = 3;
  slower.diff.operators =
      "3 operators before, 3 now, of which 1 are computed as before\n-act: relu_1\n+act2: relu_1\n~mm: matmul_0: "
      "differs in schedule and loops\n";
  CaseResult counted = plain_case("fft", Verdict::slower);
  counted.board = "emulated-riscv64";
  counted.by_instructions = true;
  counted.instructions = {{2'000'000, 2'062'500}};
  counted.environment = {"emulated-riscv64", "riscv64 under qemu", "Linux 6.1.0 riscv64", ""};
  give_modules(counted);
  report.cases.push_back(counted);
  return report;
}

gate::Report hostile_report() {
  const std::vector<std::string> texts = hostile_texts();
  gate::Report report = new_report(texts[0]);
  report.baseline = texts[4];
  report.label = texts[10];
  report.version = texts[14];
  std::uint32_t number = 0;
  for (const std::string& text : texts) {
    CaseResult result = measured_case(text, kAllVerdicts[number % std::size(kAllVerdicts)], 1.03, 4, number);
    result.board = texts[(number + 7) % texts.size()];
    result.reason = texts[(number + 3) % texts.size()];
    result.warnings = {text};
    result.environment = {text, text, text, text};
    result.sides[Side::baseline].label = result.sides[Side::current].label = text;
    result.diff = {"--- a\n+++ b\n-" + text + "\n+" + text + "x\n", text, text, text, text};
    report.cases.push_back(result);
    ++number;
  }
  return report;
}

gate::Report extreme_report() {
  gate::Report report = new_report("extremes");
  report.elapsed_seconds = kNaN;
  report.started = std::numeric_limits<std::int64_t>::max();
  report.is_interrupted = true;
  report.unknown = gate::UnknownPolicy::pass;
  report.cases = {
      measured_case("one pair", Verdict::cannot_tell, 1.1, 1, 1),
      measured_case("unbounded", Verdict::cannot_tell, 1.1, 4, 2),
      measured_case("equal times", Verdict::no_change, 1, 8, 3),
      measured_case("not numbers", Verdict::cannot_tell, 1, 6, 4),
      measured_case("far away", Verdict::slower, 1e6, 10, 5),
      measured_case("an outlier", Verdict::no_change, 1, 30, 6),
      measured_case("without tolerance", Verdict::slower, 1.5, 10, 7),
      plain_case("zero instructions", Verdict::no_change),
  };
  for (gate::Pair& pair : report.cases[2].pairs) pair = {0, false, {1e-3, 1e-3}, 0};
  CaseResult& broken = report.cases[3];
  for (gate::Pair& pair : broken.pairs) pair = {0, false, {kNaN, 0}, kNaN};
  broken.pairs.back() = {0, true, {kInfinity, 1e-300}, -kInfinity};
  broken.change = {kNaN, kNaN, kInfinity};
  broken.sides[Side::baseline].seconds = kNaN;
  broken.sides[Side::current].seconds = kInfinity;
  broken.tolerance = kNaN;
  report.cases[5].pairs[7].seconds[Side::current] *= 1000;
  report.cases[5].pairs[7].log_ratio = std::log(1000);
  report.cases[6].tolerance = 0;
  report.cases[7].by_instructions = true;
  report.cases[7].instructions = {{0, 0}};
  return report;
}

gate::Report failed_report() {
  gate::Report report = new_report("vision");
  report.elapsed_seconds = 0;
  report.is_update = true;
  report.failure = {"suite.toml:3:9: expected '=' after <b>kernel</b>\n  kernel 'mm.tc'\n         ^", 2};
  return report;
}

gate::Report long_report(std::size_t cases) {
  gate::Report report = new_report("many");
  for (std::size_t i = 0; i < cases; ++i) {
    const bool is_slower = i % 100 == 99;
    report.cases.push_back(measured_case("kernel_" + std::to_string(i),
                                         is_slower ? Verdict::slower : Verdict::no_change, is_slower ? 1.05 : 1, 16,
                                         static_cast<std::uint32_t>(i)));
  }
  return report;
}

std::vector<std::pair<std::string, gate::Report>> sample_reports() {
  return {{"empty", empty_report()},     {"varied", varied_report()},  {"hostile", hostile_report()},
          {"extreme", extreme_report()}, {"failure", failed_report()}, {"long", long_report(1000)}};
}

}  // namespace ferry::test
