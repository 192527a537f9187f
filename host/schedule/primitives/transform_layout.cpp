// Changes the memory layout of an intermediate tensor (a cached copy, for example): packed, blocked, transposed. Every
// element has exactly one address; reads are redirected to it.
//
//     B[k, n]    ->    transform_layout (k, n) -> (n / 16, k, n % 16)    ->    panels of 16 columns, row after row
//
// Each new dimension is an axis, or a part of one: axis / divisor, axis % modulus, axis / divisor % modulus. The parts
// of an axis must determine it, as c / 16 and c % 16 do. Loops are unchanged.
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/primitives.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

LayoutPart read_part(const std::vector<std::string>& names, DirectiveArgs& args) {
  const std::string name = args.name("an axis of the layout");
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) args.fail("an axis named on the left", "'" + name + "'");
  LayoutPart part;
  part.axis = static_cast<std::size_t>(at - names.begin());
  if (args.accept("/")) part.divisor = args.positive("a divisor");
  if (args.accept("%")) part.modulus = args.positive("a modulus");
  return part;
}

// The parts of one axis, smallest first, must be consecutive: divisors 1, m0, m0 * m1, ..., and the last without a
// modulus.
void expect_whole(const std::string& name, std::vector<LayoutPart> parts, const DirectiveArgs& args) {
  if (parts.empty()) args.fail("every axis on the right", "none of '" + name + "'");
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.divisor < b.divisor; });
  std::int64_t next = 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    if (parts[i].divisor != next || (parts[i].modulus == 0) != is_last)
      args.fail("parts that give '" + name + "' back, as '" + name + " / 16' and '" + name + " % 16' do",
                "others: two elements would share a place");
    next *= parts[i].modulus;
  }
}

}  // namespace

void transform_layout(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  std::vector<std::string> names;
  args.expect("(");
  do {
    names.push_back(args.name("a name for an axis"));
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      args.fail("different names", "'" + names.back() + "' twice");
  } while (args.accept(","));
  args.expect(")");
  if (names.size() != stage->axes.size())
    args.fail(std::to_string(stage->axes.size()) + " axes on the left, as '" + stage->name + "' has",
              std::to_string(names.size()));
  args.expect("->");
  Layout layout;
  args.expect("(");
  do {
    layout.push_back(read_part(names, args));
  } while (args.accept(","));
  args.expect(")");
  args.end();
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<LayoutPart> parts;
    std::copy_if(layout.begin(), layout.end(), std::back_inserter(parts), [&](const auto& p) { return p.axis == i; });
    expect_whole(names[i], std::move(parts), args);
  }
  expect_intermediate(*stage, args);
  if (!stage->alignments.empty()) args.fail("a tensor without aligned rows", "'" + stage->name + "'");
  stage->layout = std::move(layout);
}

}  // namespace ferry::schedule
