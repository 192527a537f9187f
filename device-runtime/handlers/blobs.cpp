#include "device-runtime/handlers/blobs.h"

#include <algorithm>
#include <iterator>

namespace ferry::device {
namespace {

// Fewer bytes between two parts of a blob are mapped with them.
constexpr std::uint64_t kGap = 64 << 10;

// Adds the constants that calls read. They get mappings of their own where that lets the rest of a blob be unmapped
// once init plans have read it.
Status add_constants_of_calls(SessionState& state, RequestContext& context, const Manifest& manifest,
                              ConstantMemory& constants) {
  const std::vector<Constant>& all = manifest.constants;
  std::vector<bool> is_read(all.size());
  for (const FunctionInfo& function : manifest.functions)
    for (const std::size_t index : constants_of(function.plan)) is_read[index] = true;
  for (std::size_t first = 0, next = 0; first < all.size(); first = next) {
    next = first + 1;
    if (!is_read[first]) continue;
    const Constant& begin = all[first];
    const Blob& blob = manifest.blobs[begin.blob];
    std::uint64_t end = begin.offset + begin.bytes;
    // Compilers write constants in the order of their offsets.
    for (; next < all.size(); ++next) {
      if (!is_read[next]) continue;
      if (all[next].blob != begin.blob || all[next].device != begin.device || all[next].offset < begin.offset ||
          all[next].offset > end + kGap)
        break;
      end = std::max(end, all[next].offset + all[next].bytes);
    }
    FERRY_ASSIGN(SessionBlobs::Shared part, state.blobs.get(context, blob));
    std::uint64_t offset = 0;
    if (!constants.copies(first) && end > begin.offset && end - begin.offset <= blob.bytes / 2) {
      auto mapped = state.blobs.find_part(blob.hash, *part, begin.offset, end - begin.offset);
      // Until the blob is unmapped both take memory. Without room for both it stays mapped.
      if (!mapped.is_ok() && mapped.status().code() != ErrorCode::resource_exhausted) return mapped.status();
      if (mapped.is_ok() && mapped.value() != nullptr) {
        part = std::move(mapped.value());
        offset = begin.offset;
      }
    }
    for (; first < next; ++first) {
      if (!is_read[first]) continue;
      const auto bytes = part->bytes().subspan(static_cast<std::size_t>(all[first].offset - offset),
                                               static_cast<std::size_t>(all[first].bytes));
      FERRY_TRY(constants.add(first, bytes, part));
    }
  }
  return {};
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

std::vector<std::size_t> constants_of(const Step& step) {
  std::vector<std::size_t> read;
  for_each_operand(step, [&](const Operand& operand) {
    if (operand.kind == OperandKind::constant) read.push_back(operand.index);
  });
  return read;
}

std::vector<std::size_t> constants_of(const Plan& plan) {
  std::vector<std::size_t> read;
  for (const Step& step : plan.steps) std::ranges::copy(constants_of(step), std::back_inserter(read));
  return read;
}

Status add_constants_to_bind(SessionState& state, RequestContext& context, const Manifest& manifest, const Plan& init,
                             ConstantMemory& constants) {
  for (const std::size_t index : constants_of(init)) {
    if (constants.has(index)) continue;
    const Constant& constant = manifest.constants[index];
    FERRY_ASSIGN(const SessionBlobs::Shared blob, state.blobs.get(context, manifest.blobs[constant.blob]));
    const auto bytes =
        blob->bytes().subspan(static_cast<std::size_t>(constant.offset), static_cast<std::size_t>(constant.bytes));
    FERRY_TRY(constants.add(index, bytes, blob, true));
  }
  return {};
}

Status load_constants(SessionState& state, RequestContext& context, Module& module) {
  const Manifest& manifest = module.manifest;
  std::vector<SessionBlobs::Shared> blobs;
  for (const Blob& blob : manifest.blobs) {
    FERRY_ASSIGN(blobs.emplace_back(), state.blobs.get(context, blob));
  }
  std::vector<MemoryBlock> none(manifest.constants.size());
  for (std::size_t i = 0; i < none.size(); ++i) none[i].device = manifest.constants[i].device;
  ConstantMemory& constants = module.constants.emplace(module.devices, std::move(none));
  FERRY_TRY(add_constants_of_calls(state, context, manifest, constants));
  for (const FunctionInfo& function : manifest.functions) {
    for (const std::size_t index : constants_of(function.init))
      if (!constants.has(index)) module.blobs_to_bind.push_back(blobs[manifest.constants[index].blob]);
  }
  blobs.clear();
  state.blobs.release(manifest);
  return {};
}

}  // namespace ferry::device
