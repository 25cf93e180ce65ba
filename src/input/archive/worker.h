// The protocol between whyoom and the child process ("worker") that reads archives for it.
//
// Archives may come from strangers, and libarchive has a long history of faults. So it runs in a process that has no
// files, network or environment and little memory, and whose death costs the archive at hand only.
//
// The worker is the program started anew (posix_spawn), not a fork: a fork would hold what whyoom has in memory (other
// logs, credentials), and a lock that another thread held at that moment would stay locked in it for ever.
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

// A sanitizer needs terabytes of addresses and many system calls, so a worker that has one is not limited in either.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = WHYOOM_HAS_FEATURE(address_sanitizer) || WHYOOM_HAS_FEATURE(thread_sanitizer) ||
                            WHYOOM_HAS_FEATURE(memory_sanitizer);
#endif

// Call first in main. If this process was started as a worker, gives up all rights, reads archives until whyoom closes
// the socket, and does not return.
void ServeArchivesIfAsked(int argc, char** argv);

namespace worker {

// argv[0] of a worker; argv[1] is the memory that it may allocate.
constexpr const char* kName = "whyoom: reads archives";

// Its exit status if it needs more.
constexpr int kNoMemoryStatus = 12;

// The descriptors that a worker is started with.
constexpr int kSocket = 0;
constexpr int kMemory = 1;

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
constexpr std::uint32_t kInputs = 2;  // blocks for the bytes of the archive
constexpr std::uint32_t kBlocks = 6;  // these, then blocks for the worker's output
constexpr std::uint32_t kControl = kBlocks;

// Memory that both processes see.
struct Shared {
  std::atomic<std::uint64_t> unwanted{0};  // the member that whyoom skips, by its number from 1 on
  alignas(64) std::array<std::array<char, kBlockBytes>, kBlocks> blocks;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Passes a block to the other process: an input with its next `bytes` of the archive (0: its end) or to be filled, an
// output with `bytes` of records or to be reused. Not a block but kControl, a worker sends once when it is ready, and
// whyoom to begin an archive, with its Packing as `bytes`: then whyoom owns all inputs and the worker all outputs.
struct Message {
  std::uint32_t block = 0;
  std::uint32_t bytes = 0;
};

// An output block contains whole records. The last one of an archive is kEnd, after which the worker waits for another
// archive. whyoom checks all of it: the worker may have been taken over.
struct Record {
  enum class Kind : std::uint32_t {
    kMember = 1,     // the first `value` of its `bytes` are a name, the others say why it is unreadable
    kData = 2,       // `bytes` of the member
    kHole = 3,       // a zero that stands for `value` more
    kMemberEnd = 4,  // `bytes` say why it ended early, if it did
    kEnd = 5         // of the archive, likewise
  };

  Kind kind = Kind::kData;
  std::uint32_t bytes = 0;  // that follow
  std::uint64_t value = 0;
  std::uint64_t flag = 0;  // of kMember: it has content; of kMemberEnd: the archive's bytes ended
};

// Returns false if the other process has closed the socket or lets it fill up. Few messages are ever under way.
bool Send(int socket, const Message& message);

enum class Received { kMessage, kNothing, kClosed };

// Waits up to `milliseconds` for a message, or for ever if that is negative. Anything that is not a message counts as
// kClosed.
Received Receive(int socket, int milliseconds, Message* message);

}  // namespace worker
}  // namespace whyoom
