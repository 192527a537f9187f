#include "rpc/wire/codec.h"

#include "base/encode_fields.h"

namespace ferry {

template <class Archive>
void serialize(Archive& archive, CacheFacts& facts) {
  archive(facts.level, facts.kind, facts.bytes, facts.line_bytes);
}

template <class Archive>
void serialize(Archive& archive, ComputeDevice& device) {
  archive(device.kind, device.name, device.memory_bytes, device.arch);
}

template <class Archive>
void serialize(Archive& archive, DeviceFacts& facts) {
  archive(facts.server_version, facts.flavour, facts.arch, facts.operating_system, facts.cpu_name,
          lines_field(facts.cpu_identification), facts.features, facts.hwcap, facts.hwcap2, facts.logical_cores,
          facts.threads, facts.memory_bytes, facts.memory_available_bytes, facts.memory_limit_bytes, facts.page_bytes,
          nested(facts.caches), nested(facts.devices), facts.not_enforced, added_field(facts.counts_instructions),
          added_field(facts.small_pages));
}

namespace {

bool is_valid_end(std::uint8_t tag) { return tag >= 1 && tag <= 3; }
bool is_valid_isolation(std::uint8_t tag) { return tag <= 3; }

}  // namespace

template <class Archive>
void serialize(Archive& archive, BenchOptions& options) {
  archive(options.number, options.repeat, options.max_repeat, options.min_repeat_ms, options.warmup_ms,
          options.cooldown_ms, options.timeout_ms, options.tolerance, options.cold, options.cores, options.threads,
          options.watch, added_field(options.poison.low), added_field(options.poison_rtol),
          added_field(options.isolated), added_field(options.fresh_inputs), added_field(options.witnesses),
          added_field(options.poison.high), added_field(options.witness_buffers), added_field(options.check_buffers),
          added_field(options.check_calls));
}

template <class Archive>
void serialize(Archive& archive, Samples& samples) {
  archive(samples.seconds, samples.switches, samples.cores, samples.number, samples.warmup_calls, samples.cycles,
          samples.instructions, samples.cache_misses, added_field(samples.inspected), added_field(samples.unwritten),
          added_field(samples.changed), added_field(samples.first_s), added_field(samples.alone_s),
          added_field(samples.witnessed), added_field(samples.sets), added_field(samples.more_witnessed),
          added_field(samples.checked));
}

template <class Archive>
void serialize(Archive& archive, WatchedText& file) {
  archive(file.path, lines_field(file.before), lines_field(file.after));
}

template <class Archive>
void serialize(Archive& archive, TimingEnvironment& environment) {
  auto isolation = enum_field(environment.isolation, is_valid_isolation);
  archive(enum_field(environment.ended, is_valid_end), environment.elapsed_s, environment.threads,
          environment.clock_resolution_ns, environment.clock_overhead_ns, environment.wiped_bytes,
          environment.counters_errno, environment.voluntary_switches, environment.involuntary_switches,
          nested(environment.watched), added_field(isolation), added_field(environment.not_isolated),
          added_field(environment.fresh_inputs), added_field(environment.small_pages));
}

template <class Archive>
void serialize(Archive& archive, Evaluation& evaluation) {
  archive(nested(evaluation.calls), nested(evaluation.environment));
}

template <class Archive>
void serialize(Archive& archive, StepTime& step) {
  archive(step.kernel, step.grid[0], step.grid[1], step.grid[2], step.block[0], step.block[1], step.block[2],
          step.shared_bytes, step.registers, step.seconds,
          enum_field(step.kind, [](std::uint8_t tag) { return tag >= 1 && tag <= 4; }), step.device);
}

}  // namespace ferry

namespace ferry::rpc {
namespace {

bool is_valid_fill_kind(std::uint8_t tag) { return tag >= 1 && tag <= 4; }
bool is_valid_limit(std::uint8_t tag) { return tag >= 1 && tag <= 3; }

}  // namespace

template <class Archive>
void serialize(Archive& archive, Failure& message) {
  archive(lines_field(message.message), message.failed_request);
}

template <class Archive>
void serialize(Archive& archive, ProgressEvent& event) {
  archive(event.request, event.done, event.total);
}

template <class Archive>
void serialize(Archive& archive, LogEvent& event) {
  archive(event.request, lines_field(event.text));
}

template <class Archive>
void serialize(Archive& archive, WaitingEvent& event) {
  archive(event.position, event.holder, event.holder_ms);
}

template <class Archive>
void serialize(Archive& archive, CrashEvent& event) {
  archive(event.request, event.function, event.signal, event.address, event.module, event.offset,
          lines_field(event.printed));
}

template <class Archive>
void serialize(Archive& archive, LimitEvent& event) {
  archive(event.request, enum_field(event.limit, is_valid_limit), event.limit_ms, event.running_ms);
}

template <class Archive>
void serialize(Archive& archive, TimeLimits& limits) {
  archive(limits.call_ms, limits.session_ms, limits.idle_ms);
}

template <class Archive>
void serialize(Archive& archive, Open& message) {
  archive(message.version_min, message.version_max, message.client, message.devices, nested(message.limits),
          message.wait_for_debugger);
}

template <class Archive>
void serialize(Archive& archive, OpenReply& message) {
  archive(message.version, nested(message.facts), nested(message.limits), message.process);
}

template <class Archive>
void serialize(Archive& archive, ClientListing& listing) {
  archive(listing.number, listing.client, listing.peer, listing.since_ms, listing.function, listing.running_ms);
}

template <class Archive>
void serialize(Archive& archive, StatusReply& message) {
  archive(message.server_version, message.device, message.uptime_ms, message.max_sessions, message.max_waiting,
          message.sessions_ended, message.sessions_failed, nested(message.sessions), nested(message.waiting));
}

template <class Archive>
void serialize(Archive& archive, PutModule& message) {
  archive(message.module, message.hash);
}

template <class Archive>
void serialize(Archive& archive, PutModuleReply& message) {
  archive(message.present);
}

template <class Archive>
void serialize(Archive& archive, FindBlobs& message) {
  archive(message.blobs);
}

template <class Archive>
void serialize(Archive& archive, FindBlobsReply& message) {
  archive(message.missing);
}

template <class Archive>
void serialize(Archive& archive, PutBlob& message) {
  archive(message.hash, message.bytes, message.offset);
}

template <class Archive>
void serialize(Archive& archive, ModuleListing& listing) {
  archive(listing.module, listing.hash, listing.bytes, listing.functions);
}

template <class Archive>
void serialize(Archive& archive, ListModulesReply& message) {
  archive(nested(message.modules));
}

template <class Archive>
void serialize(Archive& archive, UnloadModule& message) {
  archive(message.module);
}

template <class Archive>
void serialize(Archive& archive, Alloc& message) {
  archive(message.buffer, message.bytes, message.device);
}

template <class Archive>
void serialize(Archive& archive, AllocShared& message) {
  archive(message.buffer, message.bytes, message.unit);
}

template <class Archive>
void serialize(Archive& archive, Free& message) {
  archive(message.handle);
}

template <class Archive>
void serialize(Archive&, GuardMemory&) {}

template <class Archive>
void serialize(Archive& archive, Write& message) {
  archive(message.buffer, message.offset);
}

template <class Archive>
void serialize(Archive& archive, Read& message) {
  archive(message.buffer, message.offset, message.bytes);
}

template <class Archive>
void serialize(Archive& archive, Fill& message) {
  archive(message.buffer, enum_field(message.kind, is_valid_fill_kind), enum_field(message.dtype, is_valid_dtype),
          message.elements, message.seed);
}

template <class Archive>
void serialize(Archive& archive, Copy& message) {
  archive(message.destination, message.destination_offset, message.source, message.source_offset, message.bytes);
}

template <class Archive>
void serialize(Archive& archive, Digest& message) {
  archive(message.buffer, message.offset, message.bytes);
}

template <class Archive>
void serialize(Archive& archive, DigestReply& message) {
  archive(message.hash);
}

template <class Archive>
void serialize(Archive& archive, Compare& message) {
  archive(message.a, message.a_offset, message.b, message.b_offset, enum_field(message.dtype, is_valid_dtype),
          message.elements, message.rtol, message.atol);
}

template <class Archive>
void serialize(Archive& archive, CompareReply& message) {
  archive(message.different, message.first);
}

template <class Archive>
void serialize(Archive& archive, Argument& argument) {
  archive(argument.buffer, argument.offset, enum_field(argument.dtype, is_valid_dtype), argument.shape,
          argument.is_scalar, argument.scalar_bits);
}

template <class Archive>
void serialize(Archive& archive, Call& message) {
  archive(message.module, message.function, nested(message.arguments), message.instance);
}

template <class Archive>
void serialize(Archive& archive, Bind& message) {
  archive(message.instance, message.module, message.function, nested(message.constants));
}

template <class Archive>
void serialize(Archive& archive, CallReply& message) {
  archive(message.elapsed_ns);
}

template <class Archive>
void serialize(Archive& archive, Evaluate& message) {
  archive(nested(message.calls), nested(message.options));
}

template <class Archive>
void serialize(Archive& archive, TimeSteps& message) {
  archive(nested(message.call), message.repeat, message.cold, message.cores, message.threads);
}

template <class Archive>
void serialize(Archive& archive, StepTimes& message) {
  archive(message.elapsed_ns, nested(message.steps));
}

template <class Archive>
void serialize(Archive& archive, ReadFiles& message) {
  archive(message.paths);
}

template <class Archive>
void serialize(Archive& archive, ReadFilesReply& message) {
  archive(lines_field(message.texts));
}

template <class Archive>
void serialize(Archive& archive, FactsReply& message) {
  archive(nested(message.facts));
}

template <class T>
std::vector<std::uint8_t> encode(const T& message) {
  return encode_fields(message);
}

template <class T>
Result<T> decode(std::span<const std::uint8_t> bytes, Strings strings) {
  return decode_fields<T>(bytes, strings);
}

#define FERRY_INSTANTIATE(T)                              \
  template std::vector<std::uint8_t> encode<T>(const T&); \
  template Result<T> decode<T>(std::span<const std::uint8_t>, Strings);
FERRY_INSTANTIATE(Empty)
FERRY_INSTANTIATE(Failure)
FERRY_INSTANTIATE(ProgressEvent)
FERRY_INSTANTIATE(LogEvent)
FERRY_INSTANTIATE(WaitingEvent)
FERRY_INSTANTIATE(CrashEvent)
FERRY_INSTANTIATE(LimitEvent)
FERRY_INSTANTIATE(OpenReply)
FERRY_INSTANTIATE(StatusReply)
FERRY_INSTANTIATE(PutModuleReply)
FERRY_INSTANTIATE(FindBlobsReply)
FERRY_INSTANTIATE(ListModulesReply)
FERRY_INSTANTIATE(DigestReply)
FERRY_INSTANTIATE(CompareReply)
FERRY_INSTANTIATE(CallReply)
FERRY_INSTANTIATE(Evaluation)
FERRY_INSTANTIATE(StepTimes)
FERRY_INSTANTIATE(ReadFilesReply)
FERRY_INSTANTIATE(FactsReply)
#define FERRY_INSTANTIATE_REQUEST(tag, request, reply, text, properties) FERRY_INSTANTIATE(request)
FERRY_MESSAGES(FERRY_INSTANTIATE_REQUEST)
#undef FERRY_INSTANTIATE_REQUEST
#undef FERRY_INSTANTIATE

const char* tag_name(std::uint16_t tag) {
  switch (static_cast<Tag>(tag)) {
#define FERRY_NAME(number, request, reply, text, properties) \
  case Tag::request: return text;
    FERRY_MESSAGES(FERRY_NAME)
#undef FERRY_NAME
  }
  return "unknown";
}

bool has_property(std::uint16_t tag, MessageProperties property) {
  switch (static_cast<Tag>(tag)) {
#define FERRY_PROPERTY(number, request, reply, text, properties) \
  case Tag::request: return (unsigned{properties} & property) != 0;
    FERRY_MESSAGES(FERRY_PROPERTY)
#undef FERRY_PROPERTY
  }
  return false;
}

}  // namespace ferry::rpc
