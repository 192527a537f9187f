#include "device-runtime/handlers/blobs.h"

namespace ferry::device {
namespace {

template <class Visit>
void for_each_constant(const Plan& plan, Visit visit) {
  for (const Step& step : plan.steps) {
    for_each_operand(step, [&](const Operand& operand) {
      if (operand.kind == OperandKind::constant) visit(operand.index);
    });
  }
}

}  // namespace

Result<rpc::FindBlobsReply> handle_find_blobs(SessionState& state, RequestContext&, const rpc::FindBlobs& request) {
  rpc::FindBlobsReply reply;
  for (std::size_t i = 0; i < request.blobs.size(); ++i) {
    FERRY_ASSIGN(const bool is_there, state.blobs.reserve(request.blobs[i]));
    if (!is_there) reply.missing.push_back(static_cast<std::uint32_t>(i));
  }
  return reply;
}

Result<rpc::Empty> handle_put_blob(SessionState& state, RequestContext& context, const rpc::PutBlob& request) {
  FERRY_TRY(state.blobs.receive(context, request));
  return rpc::Empty{};
}

Status add_constants(SessionState& state, RequestContext& context, const Manifest& manifest, const Plan& plan,
                     ConstantMemory& constants) {
  Status status;
  for_each_constant(plan, [&](std::size_t index) {
    if (constants.has(index) || !status.is_ok()) return;
    const Constant& constant = manifest.constants[index];
    Result<SessionBlobs::Shared> blob = state.blobs.get(context, manifest.blobs[constant.blob]);
    status = blob.status();
    if (!status.is_ok()) return;
    const auto bytes = blob.value()->bytes().subspan(static_cast<std::size_t>(constant.offset),
                                                     static_cast<std::size_t>(constant.bytes));
    status = constants.add(index, bytes, blob.value());
  });
  return status;
}

Status load_constants(SessionState& state, RequestContext& context, Module& module) {
  const Manifest& manifest = module.manifest;
  std::vector<SessionBlobs::Shared> blobs;
  for (const Blob& blob : manifest.blobs) {
    FERRY_ASSIGN(blobs.emplace_back(), state.blobs.get(context, blob));
  }
  ConstantMemory& constants =
      module.constants.emplace(*module.device, std::vector<MemoryBlock>(manifest.constants.size()));
  for (const FunctionInfo& function : manifest.functions) {
    FERRY_TRY(add_constants(state, context, manifest, function.plan, constants));
  }
  for (const FunctionInfo& function : manifest.functions) {
    for_each_constant(function.init, [&](std::size_t index) {
      if (!constants.has(index)) module.blobs_to_bind.push_back(blobs[manifest.constants[index].blob]);
    });
  }
  blobs.clear();
  state.blobs.release(manifest);
  return {};
}

}  // namespace ferry::device
