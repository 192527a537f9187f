#include "host/compiler/llvm/cache_key.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/mapped_file.h"
#include "crosscompile/codegen/cuda/cuda_files.h"
#include "ferry/error.h"

namespace ferry {

namespace {

constexpr std::string_view kFormat = "ferry module cache 1";

// The clock of a file system advances in steps of up to 10 ms.
constexpr std::chrono::milliseconds kClockStep{50};

std::chrono::system_clock::time_point time_of(const timespec& time) {
  const auto since = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  return std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(since));
}

// Returns the identity that the linker gave an object; empty if it did not.
std::string_view build_id(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const char* const begin = reinterpret_cast<const char*>(object.dlpi_addr + segment.p_vaddr);
    const auto aligned = [&](std::size_t bytes) {
      const std::size_t step = segment.p_align == 8 ? 8 : 4;
      return (bytes + step - 1) / step * step;
    };
    for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= segment.p_memsz;) {
      ElfW(Nhdr) note{};
      std::memcpy(&note, begin + at, sizeof note);
      const char* const name = begin + at + sizeof note;
      const char* const contents = name + aligned(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
        return {contents, note.n_descsz};
      at += sizeof note + aligned(note.n_namesz) + aligned(note.n_descsz);
    }
  }
  return {};
}

void add_text(HashStream& hash, std::string_view text) {
  const std::uint64_t bytes = text.size();
  hash.add({reinterpret_cast<const std::uint8_t*>(&bytes), sizeof bytes});
  hash.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void add_object(HashStream& hash, const dl_phdr_info& object) {
  const std::string_view name = object.dlpi_name == nullptr ? "" : object.dlpi_name;
  if (name.starts_with("linux-vdso") || name.starts_with("linux-gate")) return;
  const std::string_view id = build_id(object);
  add_text(hash, id);
  if (!id.empty()) return;
  struct stat status{};
  add_text(hash, name);
  if (stat(name.empty() ? "/proc/self/exe" : object.dlpi_name, &status) != 0) return;
  for (const auto number :
       {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
        static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_ctim.tv_sec),
        static_cast<std::uint64_t>(status.st_ctim.tv_nsec)}) {
    hash.add({reinterpret_cast<const std::uint8_t*>(&number), sizeof number});
  }
}

std::uint64_t bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }

void add_names(CacheKey& key, const std::vector<std::string>& names) {
  key.add(names.size());
  for (const std::string& name : names) key.add(name);
}

}  // namespace

bool are_unchanged(const std::vector<std::string>& paths, std::chrono::system_clock::time_point read) {
  return std::ranges::all_of(paths, [&](const std::string& path) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0 && time_of(status.st_ctim) <= read - kClockStep;
  });
}

const Hash& build_identity() {
  static const Hash identity = [] {
    HashStream hash;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* into) {
          add_object(*static_cast<HashStream*>(into), *object);
          return 0;
        },
        &hash);
    return hash.finish();
  }();
  return identity;
}

CacheKey::CacheKey() {
  add(kFormat);
  hash_.add(build_identity());
}

void CacheKey::add(std::uint64_t number) {
  std::uint8_t bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  hash_.add(bytes);
}

void CacheKey::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  hash_.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void CacheKey::add_sizes(const std::map<std::string, std::int64_t>& sizes) {
  add(sizes.size());
  for (const auto& [name, size] : sizes) {
    add(name);
    add(bits(size));
  }
}

// Structures are taken apart by name, so that a new field does not compile until it is part of the key.
void CacheKey::add(const Target& target) {
  // Capabilities follow from architecture and features.
  const auto& [text, arch, arch_name, triple, cpu, features, pointer_bits, vector_bits, vector_registers, capabilities,
               is_source, gpus, cuda_compiler, device, block_threads, block_shared_bytes, objects_only, pass_groups,
               graph_pass_groups, tensor_alignment, l1_bytes, l2_bytes, threads, host, uses_host] = target;
  for (const std::string& part : {text, arch_name, triple, cpu}) add(part);
  add_names(*this, features);
  add_names(*this, gpus);
  const auto& [loops, gpu, scalarize] = pass_groups;
  const auto& [float32, integers, blocks] = graph_pass_groups;
  const auto& [kind, index] = device;
  for (const bool flag :
       {is_source, objects_only, loops, gpu, scalarize, float32, integers, blocks, uses_host, host != nullptr})
    add(std::uint64_t{flag});
  for (const std::uint64_t number :
       {static_cast<std::uint64_t>(arch), std::uint64_t{pointer_bits}, std::uint64_t{vector_bits},
        std::uint64_t{vector_registers}, static_cast<std::uint64_t>(cuda_compiler), static_cast<std::uint64_t>(kind),
        std::uint64_t{index}, bits(block_threads), bits(block_shared_bytes), std::uint64_t{tensor_alignment}, l1_bytes,
        l2_bytes, std::uint64_t{threads}})
    add(number);
  if (host != nullptr) add(*host);
}

void CacheKey::add(const NetworkSource& source) {
  const auto& [file, sizes, bindings, winograd, int8, max_error, outputs] = source;
  const auto& [rms, largest] = max_error;
  add(file.substr(file.rfind('/') + 1));  // names the function; add_files() adds the contents
  add_sizes(sizes);
  add_names(*this, outputs);
  add(std::uint64_t{winograd ? 1U : 0U});
  add(static_cast<std::uint64_t>(int8));
  for (const double ratio : {rms, largest}) add(std::bit_cast<std::uint64_t>(ratio));
  add(std::uint64_t{bindings.size()});
  for (const auto& [name, tensor] : bindings) {
    const auto& [dtype, shape, bytes] = tensor;
    add(name);
    add(static_cast<std::uint64_t>(dtype));
    add(std::uint64_t{shape.size()});
    for (const std::int64_t size : shape) add(bits(size));
    add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
}

void CacheKey::add_tool(const std::string& path) {
  add(path);
  struct stat status{};
  const bool exists = !path.empty() && stat(path.c_str(), &status) == 0;
  add(exists ? static_cast<std::uint64_t>(status.st_size) : 0);
  const auto modified = exists ? time_of(status.st_mtim).time_since_epoch() : std::chrono::nanoseconds(0);
  add(bits(std::chrono::duration_cast<std::chrono::nanoseconds>(modified).count()));
}

void CacheKey::add_tools(const Target& target) {
  if (target.gpus.empty()) return;
  using codegen::cuda::CudaFile;
  for (const CudaFile file : {CudaFile::nvrtc, CudaFile::ptxas, CudaFile::libdevice})
    add_tool(codegen::cuda::find_cuda_file(file));
}

void CacheKey::add(const NetworkRequest& request) {
  const auto& [target, sizes, form, tuned] = request;
  add(target);
  add_tools(target);
  add_sizes(sizes);
  add(static_cast<std::uint64_t>(form));
  add(std::uint64_t{tuned != nullptr});
  if (tuned != nullptr) hash_.add(tuned->identity(target));
}

bool CacheKey::add_files(const std::vector<std::string>& paths, std::chrono::system_clock::time_point read) {
  add(std::uint64_t{paths.size()});
  for (const std::string& path : paths) {
    try {
      const MappedFile contents = map_file(path);
      add({reinterpret_cast<const char*>(contents.bytes.data()), contents.bytes.size()});
    } catch (const Error&) {
      return false;
    }
  }
  return are_unchanged(paths, read);
}

}  // namespace ferry
