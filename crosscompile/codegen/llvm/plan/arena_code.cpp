#include "crosscompile/codegen/llvm/plan/arena_code.h"

#include "crosscompile/codegen/llvm/plan/c_interface.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

// The workspaces of two threads never share a cache line, nor the pair of lines that some processors fetch together.
constexpr std::uint64_t kThreadAlignment = 128;

// Returns where a block of these bytes begins, and advances `end` past it.
Value* place(SizeCode& sizes, Value*& end, Value* bytes) {
  Value* begin = end;
  end = sizes.round_up(sizes.add(begin, bytes), kMemoryAlignment);
  return begin;
}

}  // namespace

PersistentPlaces place_persistent(SizeCode& sizes, llvm::IRBuilder<>& b, const FunctionInfo& function,
                                  std::uint64_t begin) {
  PersistentPlaces places;
  places.end = b.getInt64(begin);
  for (const PersistentBuffer& buffer : function.persistent)
    places.offsets.push_back(place(sizes, places.end, sizes.size(buffer.bytes)));
  return places;
}

WorkspacePlaces place_workspaces(SizeCode& sizes, llvm::IRBuilder<>& b, const Plan& plan, Value* begin,
                                 Value* threads) {
  WorkspacePlaces places;
  places.end = begin;
  for (const Workspace& workspace : plan.workspaces)
    places.offsets.push_back(place(sizes, places.end, sizes.size(workspace.bytes)));
  Value* most = b.getInt64(0);
  for (const Step& step : plan.steps) {
    const auto* call = std::get_if<CallStep>(&step);
    if (call != nullptr) most = sizes.apply(ManifestOp::max, most, sizes.size(call->thread_workspace));
  }
  places.thread_stride = sizes.round_up(most, kThreadAlignment);
  places.threads_offset = places.end;
  Value* all = sizes.mul(places.thread_stride, threads);
  places.end = sizes.add(places.end, all);
  return places;
}

}  // namespace ferry::codegen
