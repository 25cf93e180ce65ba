// How a run and a process that reads archives for it talk: short messages over a socket, and blocks of bytes in memory
// that both see. Who reads what the other wrote believes nothing of it: the process may have been taken over by what it
// unpacked.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace whyoom::archive_channel {

// The archive's bytes come in blocks of one kind, what lies in it goes out in those of the other.
constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
constexpr std::size_t kInputs = 2;
constexpr std::size_t kOutputs = 4;

// The descriptors that the process finds open.
constexpr int kSocket = 3;
constexpr int kMemory = 4;

// What lies in the memory that both see. No string or length of either is of the other.
struct Shared {
  std::atomic<std::uint64_t> unwanted{0};  // the member whose content nobody will read, by its number from 1 on
  alignas(64) std::array<std::array<char, kBlockBytes>, kInputs> inputs;
  alignas(64) std::array<std::array<char, kBlockBytes>, kOutputs> outputs;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct Message {
  enum class Kind : std::uint32_t {
    // From the run.
    kBegin = 1,   // an archive: `index` is its Packing, `value` its size, kNoSize where it has none
    kInput = 2,   // block `index` holds its next `value` bytes; 0: its end
    kSought = 3,  // the next bytes are from where was asked for; `value` 0: they cannot be
    kFree = 4,    // output block `index` was read
    // From the process.
    kReady = 16,  // it waits for an archive; after one: all that it gives was given
    kNeed = 17,   // input block `index` may be filled
    kSeek = 18,   // … with what lies at `value` from now on
    kOutput = 19  // output block `index` holds `value` bytes of records
  };
  static constexpr std::uint64_t kNoSize = UINT64_MAX;

  Kind kind = Kind::kBegin;
  std::uint32_t index = 0;
  std::uint64_t value = 0;
};

// An output block holds records one behind another, each whole.
struct Record {
  enum class Kind : std::uint32_t {
    kMember = 1,     // `bytes` of its name, of which the first `value` are; the others say why it is unreadable
    kData = 2,       // `bytes` of it
    kHole = 3,       // `value` zeros
    kMemberEnd = 4,  // `bytes` that say why early, if any
    kEnd = 5         // of the archive, likewise
  };

  Kind kind = Kind::kData;
  std::uint32_t bytes = 0;  // that follow
  std::uint64_t value = 0;
  std::uint64_t flag = 0;  // of kMember: it has content; of kMemberEnd: the archive's bytes ended
};

// False where the other side is gone, or has taken none for so long that the socket is full: neither side has more than
// a few under way.
bool Send(int socket, const Message& message);

enum class Received { kMessage, kNothingYet, kGone };
// Waits up to `milliseconds` for a message, without end where they are negative. What is no message counts as gone.
Received Receive(int socket, int milliseconds, Message* message);

}  // namespace whyoom::archive_channel
