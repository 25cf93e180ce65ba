// The protocol between whyoom and the child process ("worker") that reads archives for it.
//
// Archives may come from untrusted sources, and libarchive has a long history of faults. So it runs in a process
// with little memory, a minimal environment and no files or network. Its death affects only the current archive.
//
// The worker is a newly started copy of the program (posix_spawn), not a fork. A fork would contain whyoom's memory
// (other logs, credentials), and a lock held by another thread at that moment would stay locked in it forever.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(__has_feature)
#define WHYOOM_HAS_FEATURE(feature) __has_feature(feature)
#else
#define WHYOOM_HAS_FEATURE(feature) 0
#endif

namespace whyoom {

// Sanitizers need terabytes of address space and many system calls, so a worker with one is not limited in either.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = WHYOOM_HAS_FEATURE(address_sanitizer) || WHYOOM_HAS_FEATURE(thread_sanitizer) ||
                            WHYOOM_HAS_FEATURE(memory_sanitizer);
#endif

// Call first in main. If this process was started as a worker, drops all privileges, reads archives until whyoom closes
// the socket, and does not return.
void ServeArchivesIfAsked(int argc, char** argv);

namespace worker {

// argv[0] of a worker; argv[1] is its memory limit in bytes.
constexpr const char* kName = "whyoom: reads archives";

// Exit status of a worker that needs more memory than its limit.
constexpr int kNoMemoryStatus = 12;

// The descriptors of a worker.
constexpr int kSocket = 0;
constexpr int kMemory = 1;

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
constexpr std::uint32_t kInputs = 2;  // blocks for the bytes of the archive
constexpr std::uint32_t kBlocks = 6;  // the inputs, then the blocks for the worker's output
constexpr std::uint32_t kControl = kBlocks;

// Memory shared by both processes.
struct Shared {
  std::atomic<std::uint64_t> unwanted{0};  // number, from 1 on, of the member that whyoom skips
  alignas(64) std::array<std::array<char, kBlockBytes>, kBlocks> blocks;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Passes a block to the other process. whyoom fills inputs with the next `bytes` of the archive (0: its end), and the
// worker fills outputs with `bytes` of records. The receiver returns each block for reuse. kControl is not a block: a
// worker sends it once when it is ready, and whyoom sends it to start an archive, with its Packing as `bytes`. Then
// whyoom owns all inputs and the worker all outputs.
struct Message {
  std::uint32_t block = 0;
  std::uint32_t bytes = 0;
};

// An output block contains complete records. The last one of an archive is kEnd; then the worker waits for the next
// archive. whyoom validates everything, because an archive may have compromised the worker.
struct Record {
  enum class Kind : std::uint32_t {
    kMember = 1,     // the first `value` bytes are its name; the rest, if any, why it is unreadable
    kData = 2,       // `bytes` of the member
    kHole = 3,       // one zero; `value` more zeros are left out
    kMemberEnd = 4,  // `bytes` are the problem if it ended early
    kEnd = 5         // of the archive; `bytes` are the problem if it ended early
  };

  Kind kind = Kind::kData;
  std::uint32_t bytes = 0;  // number of bytes after the record
  std::uint64_t value = 0;
  std::uint64_t flag = 0;  // kMember: it has content; kMemberEnd: the archive's bytes ended
};

// Never waits. Returns false if the other process has closed the socket, or if the socket is full: only a few messages
// are ever in flight, so the other process has stopped reading.
bool Send(int socket, const Message& message);

enum class Received { kMessage, kNothing, kClosed };

// Waits up to `milliseconds` for a message; forever if negative. Returns kClosed for anything that is not a message.
Received Receive(int socket, int milliseconds, Message* message);

}  // namespace worker
}  // namespace whyoom
