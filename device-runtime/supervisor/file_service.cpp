#include "device-runtime/supervisor/file_service.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "device-runtime/facts/watched_files.h"
#include "device-runtime/sandbox/capabilities.h"
#include "device-runtime/supervisor/cache_writer.h"

namespace ferry::device {
namespace {

// A session stores one file after the other; the process that wrote the last one may be about to end.
constexpr std::size_t kMaxWriters = 4;
// A session can keep what it was handed although the cache has deleted it, so there is a limit of that: as many files,
// and so many times the size of the cache.
constexpr std::size_t kMaxHanded = 20'000;
constexpr std::uint64_t kHandedCaches = 2;

}  // namespace

class FileService::Server {
 public:
  Server(server::EventLoop& loop, const Caches& caches, Cleaners& cleaners, int socket)
      : caches_(caches), cleaners_(cleaners), socket_(loop, socket) {
    wait();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    // They end when the session's ends of their streams are closed, as soon as the disk lets them.
    for (const pid_t writer : writers_) cleaners_.adopt(writer);
  }

 private:
  // Another file of the same name replaces one that the cache has deleted, but the session may still have both.
  struct HandedFile {
    std::uint64_t name = 0;  // the beginning of its hash
    std::uint64_t inode = 0;
    std::uint64_t bytes = 0;
    bool operator==(const HandedFile&) const = default;
  };
  struct Handed {
    std::vector<HandedFile> files;
    std::uint64_t bytes = 0;
  };
  // The descriptors of an answer, which the supervisor does not keep.
  class Files {
   public:
    Files() = default;
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    ~Files() {
      for (const int number : numbers()) close(number);
    }
    void add(Descriptor file) { numbers_[count_++] = file.release(); }
    std::span<const int> numbers() const { return std::span(numbers_).first(count_); }

   private:
    std::array<int, kMaxTexts> numbers_;
    std::size_t count_ = 0;
  };

  void wait() {
    socket_.when_readable([this] {
      if (answer_next()) {
        wait();
      } else {
        socket_.close();
      }
    });
  }

  // Returns false if the session has ended or sends nonsense.
  bool answer_next() {
    // Answers that nobody reads would hold descriptors, of which all sessions together can have only so many under way.
    int unread = 0;
    if (ioctl(socket_.number(), SIOCOUTQ, &unread) == 0 && unread != 0) return false;
    std::array<std::uint8_t, sizeof(BrokerRequest) + kMaxTextNames> bytes;
    // Descriptors that come with a message are not received, and closed by the system.
    const ssize_t got = recv(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    const auto size = static_cast<std::size_t>(got);
    BrokerRequest request;
    if (size < sizeof request || size > bytes.size()) return false;
    std::memcpy(static_cast<void*>(&request), bytes.data(), sizeof request);
    if (request.cache > Cache::blobs || request.task > BrokerTask::throttled) return false;
    const std::string_view names(reinterpret_cast<const char*>(bytes.data()) + sizeof request, size - sizeof request);
    Files files;
    BrokerReply reply;
    reply.error = answer(request, names, reply.value, files);
    return send_message(socket_.number(), bytes_of(reply), files.numbers());
  }

  // All of these return an error of errno.
  int answer(const BrokerRequest& request, std::string_view names, std::uint64_t& value, Files& files) {
    switch (request.task) {
      case BrokerTask::find: return find(request, value, files);
      case BrokerTask::store: return store(request, files);
      case BrokerTask::texts: return open_texts(names, value, files);
      case BrokerTask::throttled: {
        const std::optional<std::uint32_t> flags = pi_throttled();
        value = flags.value_or(0);
        return flags ? 0 : ENOENT;
      }
    }
    return EINVAL;
  }

  // Whether the session may have this file as well. One that is to be written is never the same as one before it, even
  // if it gets the number of one that was given up.
  bool hand(const BrokerRequest& request, int file, std::uint64_t bytes, bool is_new) {
    Handed& handed = handed_[static_cast<std::size_t>(request.cache)];
    struct stat info{};
    if (fstat(file, &info) != 0) return false;
    HandedFile one{0, info.st_ino, bytes};
    std::memcpy(&one.name, request.hash.data(), sizeof one.name);
    if (!is_new && std::find(handed.files.begin(), handed.files.end(), one) != handed.files.end()) return true;
    const std::uint64_t most = caches_[request.cache].max_bytes() * kHandedCaches;
    if (handed.files.size() == kMaxHanded || handed.bytes > most || bytes > most - handed.bytes) return false;
    handed.files.push_back(one);
    handed.bytes += bytes;
    return true;
  }

  int find(const BrokerRequest& request, std::uint64_t& bytes, Files& files) {
    Descriptor file = caches_[request.cache].open_file(request.hash, bytes);
    if (file.number() < 0 || !hand(request, file.number(), bytes, false)) return ENOENT;
    files.add(std::move(file));
    return 0;
  }

  int store(const BrokerRequest& request, Files& files) {
    const CacheFolder& cache = caches_[request.cache];
    std::erase_if(writers_, [](pid_t writer) { return waitpid(writer, nullptr, WNOHANG) != 0; });
    if (cache.folder().empty()) return ENOENT;
    if (request.bytes == 0 || request.bytes > cache.max_bytes()) return EFBIG;
    if (writers_.size() == kMaxWriters) return EBUSY;
    // Nobody reads a module that it has just sent.
    const bool reads = request.cache == Cache::blobs;
    errno = 0;
    Result<NewCacheFile> file = NewCacheFile::create(cache);
    if (!file.is_ok()) return errno;
    if (reads && !hand(request, file.value().number(), request.bytes, true)) return EDQUOT;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    files.add(Descriptor(ends[0]));
    const Descriptor theirs(ends[1]);
    const pid_t writer = start_cache_writer(cache, file.value(), request, reads, theirs.number());
    if (writer < 0) return errno;
    file.value().leave();
    writers_.push_back(writer);
    return 0;
  }

  int open_texts(std::string_view names, std::uint64_t& which, Files& files) {
    const WithoutCapabilities as_any_process;
    for (std::size_t i = 0; i < kMaxTexts; ++i) {
      const std::size_t end = names.find('\0');
      if (end == std::string_view::npos) break;
      Descriptor file = open_watched(std::string(names.substr(0, end)), caches_.sessions_are_own_user);
      names.remove_prefix(end + 1);
      if (file.number() < 0) continue;
      which |= std::uint64_t{1} << i;
      files.add(std::move(file));
    }
    return 0;
  }

  const Caches& caches_;
  Cleaners& cleaners_;
  server::WatchedDescriptor socket_;
  Handed handed_[2];
  std::vector<pid_t> writers_;
};

FileService::FileService(server::EventLoop& loop, const Caches& caches, Cleaners& cleaners) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return;
  session_end_ = Descriptor(ends[1]);
  // The session waits for answers.
  fcntl(ends[1], F_SETFL, 0);
  server_ = std::make_unique<Server>(loop, caches, cleaners, ends[0]);
}

FileService::FileService(FileService&&) noexcept = default;
FileService::~FileService() = default;

}  // namespace ferry::device
