#include "host/export/replace_init_plan.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "crosscompile/ir/error.h"
#include "ferry/hash.h"

namespace ferry {

namespace {

constexpr std::size_t kConstantAlignment = 64;

class OneBlob final : public BlobSource {
 public:
  explicit OneBlob(Contents contents) : contents_(std::move(contents)), hash_(blake2b(contents_)) {}

  bool has(const Hash& blob) const override { return blob == hash_; }
  void read(const Hash&, std::uint64_t offset, std::span<std::uint8_t> into) const override {
    std::ranges::copy(std::span(contents_).subspan(static_cast<std::size_t>(offset), into.size()), into.begin());
  }
  Blob blob() const { return {hash_, contents_.size()}; }

 private:
  Contents contents_;
  Hash hash_;
};

// Renumbers the memory that a plan reads, and collects it.
class ConstantPlan {
 public:
  ConstantPlan(Manifest& manifest, const BlobSource* blobs, const std::vector<Contents>& persistent)
      : manifest_(manifest), blobs_(blobs), persistent_(persistent) {}

  std::shared_ptr<const BlobSource> run() {
    FunctionInfo& function = manifest_.functions.front();
    for (Step& step : function.plan.steps) std::visit([this](auto& one) { move(one); }, step);
    function.persistent.clear();
    function.init = {};
    // A blob has at least one byte.
    if (contents_.empty()) contents_.resize(1);
    const auto blob = std::make_shared<const OneBlob>(std::move(contents_));
    manifest_.constants = std::move(constants_);
    manifest_.blobs.clear();
    if (!manifest_.constants.empty()) manifest_.blobs.push_back(blob->blob());
    return blob;
  }

 private:
  void move(CallStep& step) {
    for (Operand& operand : step.operands) move(operand);
  }
  void move(LaunchStep&) { throw InternalError("expected the plan of a CPU to export"); }
  void move(CopyStep& step) {
    move(step.to);
    move(step.from);
  }
  void move(FillStep& step) { move(step.to); }
  // The steps that it repeats follow it.
  void move(RepeatStep& step) {
    if (step.condition) move(*step.condition);
  }

  void move(Operand& operand) {
    if (operand.kind != OperandKind::constant && operand.kind != OperandKind::persistent) return;
    const auto [known, is_new] = numbers_.try_emplace({operand.kind, operand.index}, constants_.size());
    if (is_new) {
      if (operand.kind == OperandKind::persistent)
        add(persistent_.at(operand.index));
      else
        add(read_constant(manifest_, blobs_, operand.index));
    }
    operand.kind = OperandKind::constant;
    operand.index = static_cast<std::uint32_t>(known->second);
  }

  void add(const Contents& contents) {
    contents_.resize((contents_.size() + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment);
    constants_.push_back({.offset = contents_.size(), .bytes = contents.size()});
    contents_.insert(contents_.end(), contents.begin(), contents.end());
  }

  Manifest& manifest_;
  const BlobSource* blobs_;
  const std::vector<Contents>& persistent_;
  std::map<std::pair<OperandKind, std::uint32_t>, std::size_t> numbers_;  // the numbers of the new constants
  std::vector<Constant> constants_;
  Contents contents_;
};

}  // namespace

Contents read_constant(const Manifest& manifest, const BlobSource* blobs, std::size_t index) {
  const Constant& constant = manifest.constants.at(index);
  const Hash& hash = manifest.blobs.at(constant.blob).hash;
  if (blobs == nullptr || !blobs->has(hash)) throw InternalError("the contents of weights are missing");
  Contents contents(static_cast<std::size_t>(constant.bytes));
  blobs->read(hash, constant.offset, contents);
  return contents;
}

std::shared_ptr<const BlobSource> replace_init_plan(Manifest& manifest, const BlobSource* blobs,
                                                    const std::vector<Contents>& persistent) {
  return ConstantPlan(manifest, blobs, persistent).run();
}

}  // namespace ferry
