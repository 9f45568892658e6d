#include "segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>

#include "error.h"

namespace emucann::hccl {
namespace {

constexpr char magic[16] = "emucann-hccl-1";
constexpr std::size_t page = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

std::string reason() { return std::strerror(errno); }

// Segments whose root is this process, by nonce.
struct Roots {
  std::mutex mutex;
  std::map<std::uint64_t, int> descriptors;
};

Roots& roots() {
  static Roots instance;
  return instance;
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int release() {
    const int value = value_;
    value_ = -1;
    return value;
  }

 private:
  int value_;
};

}  // namespace

RootInfo Segment::create_root() {
  Descriptor file(memfd_create("emucann-hccl", MFD_CLOEXEC));
  if (file.get() < 0) throw Error(HCCL_E_SYSCALL, "can't make a shared memory file: " + reason());
  std::random_device random;
  RootInfo root{};
  std::memcpy(root.magic, magic, sizeof magic);
  root.pid = getpid();
  root.fd = file.get();
  root.nonce = (std::uint64_t{random()} << 32) | random();
  if (pwrite(file.get(), &root.nonce, sizeof root.nonce, offsetof(Header, nonce)) != sizeof root.nonce) {
    throw Error(HCCL_E_SYSCALL, "can't write to a shared memory file: " + reason());
  }
  std::lock_guard lock(roots().mutex);
  roots().descriptors[root.nonce] = file.release();
  return root;
}

void Segment::release_root(const RootInfo& root) {
  std::lock_guard lock(roots().mutex);
  const auto found = roots().descriptors.find(root.nonce);
  if (found == roots().descriptors.end()) return;
  close(found->second);
  roots().descriptors.erase(found);
}

Segment::Segment(const RootInfo& root, std::uint32_t ranks)
    : ranks_(ranks),
      seats_(whole_pages(sizeof(Header))),
      mailboxes_(whole_pages(seats_ + ranks_ * sizeof(Seat))),
      bytes_(whole_pages(mailboxes_ + ranks_ * ranks_ * sizeof(Mailbox))),
      size_(bytes_ + (2 * ranks_ + ranks_ * ranks_) * piece) {
  if (std::memcmp(root.magic, magic, sizeof magic) != 0) {
    throw Error(HCCL_E_PARA, "the root info does not come from this emulator's HcclGetRootInfo");
  }
  const std::string path = "/proc/" + std::to_string(root.pid) + "/fd/" + std::to_string(root.fd);
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  std::uint64_t nonce = 0;
  if (file.get() < 0 || pread(file.get(), &nonce, sizeof nonce, offsetof(Header, nonce)) != sizeof nonce ||
      nonce != root.nonce) {
    throw Error(
        HCCL_E_OPEN_FILE_FAILURE,
        "can't open the segment of the root rank at " + path + " (" + (file.get() < 0 ? reason() : "reused") +
            "): the ranks must be processes of one user on one host, and the root must still wait for them");
  }
  // Every rank grows it to the same size, so the order does not matter; it never shrinks.
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || (static_cast<std::size_t>(status.st_size) < size_ &&
                                          ftruncate(file.get(), static_cast<off_t>(size_)) != 0)) {
    throw Error(HCCL_E_SYSCALL, "can't size the segment at " + path + ": " + reason());
  }
  void* address = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) {
    throw Error(HCCL_E_MEMORY, "can't map " + std::to_string(size_) + " bytes at " + path + ": " + reason());
  }
  base_ = static_cast<char*>(address);
  std::uint32_t agreed = 0;
  if (!header().ranks.compare_exchange_strong(agreed, ranks) && agreed != ranks) {
    munmap(base_, size_);
    throw Error(HCCL_E_PARA, "this rank expects " + std::to_string(ranks) + " ranks, another one " +
                                 std::to_string(agreed));
  }
}

Segment::~Segment() { munmap(base_, size_); }

}  // namespace emucann::hccl
