// Any messages from the process that reads archives: the read ends and returns no more data than the messages announce.
// The input consists of the process's messages and the contents of its blocks.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <new>

#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "input/archive/sandboxed_reader.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

using namespace whyoom;
using worker::kBlockBytes;
using worker::kBlocks;
using worker::kInputs;
using worker::Message;
using worker::Record;
using worker::Shared;

namespace {

constexpr std::size_t kMemory = std::size_t{1} << 24U;
constexpr std::size_t kMostMessages = 40;  // small enough to fit into the socket

struct Announced {
  std::size_t bytes = 0;                       // in all output blocks together
  std::array<std::size_t, kBlocks> most = {};  // by block
};

Announced SendMessages(Choices& choices, int socket) {
  Announced announced;
  for (std::size_t messages = choices.Below(kMostMessages); messages > 0; --messages) {
    Message message;
    message.block = static_cast<std::uint32_t>(choices.OneIn(8) ? choices.Number() : choices.Below(kBlocks));
    message.bytes = static_cast<std::uint32_t>(choices.OneIn(4) ? choices.Number() : choices.Below(kBlockBytes + 1));
    const std::size_t length = choices.OneIn(16) ? 1 + choices.Below(2 * sizeof(message)) : sizeof(message);
    std::array<char, 2 * sizeof(message)> bytes = {};
    std::memcpy(bytes.data(), &message, sizeof(message));
    Require(send(socket, bytes.data(), length, MSG_NOSIGNAL) == static_cast<ssize_t>(length), "the message is sent");
    if (message.block < kInputs || message.block >= kBlocks || message.bytes > kBlockBytes) continue;
    announced.bytes += message.bytes;
    announced.most[message.block] = std::max(announced.most[message.block], static_cast<std::size_t>(message.bytes));
  }
  return announced;
}

// Fills a block with consecutive records, some of them malformed.
void FillBlock(Choices& choices, std::array<char, kBlockBytes>* block) {
  std::size_t at = 0;
  for (std::size_t records = choices.Below(12); records > 0; --records) {
    Record record;
    const std::size_t kind = choices.Below(12);
    record.kind = static_cast<Record::Kind>(kind < 10 ? 1 + kind % 5 : choices.Number());
    const std::string_view bytes = choices.Bytes(60);
    record.bytes = static_cast<std::uint32_t>(choices.OneIn(5) ? choices.Number() : bytes.size());
    record.value = choices.OneIn(2) ? choices.Number() : bytes.size() / 2;
    record.flag = choices.Below(2);
    if (at + sizeof(record) + bytes.size() > block->size()) return;
    std::memcpy(block->data() + at, &record, sizeof(record));
    at += sizeof(record);
    std::memcpy(block->data() + at, bytes.data(), bytes.size());
    at += bytes.size();
  }
}

void ReadAll(SandboxedReader& client, std::size_t most, std::size_t capacity) {
  const auto buffer = std::make_unique<char[]>(capacity);
  ArchiveMember member;
  std::size_t given = 0;
  std::size_t records = 0;
  while (client.Next(&member)) {
    Require(++records * sizeof(Record) <= most, "there are at most as many members as records");
    Require(member.name.size() <= kLongestMemberName, "names are bounded");
    given += member.name.size() + member.unreadable.size();
    if (!member.has_content || !member.unreadable.empty()) continue;
    while (const std::size_t got = client.Read(buffer.get(), capacity)) {
      Require(got <= capacity, "a read returns at most the requested bytes");
      given += got;
      Require(given <= most, "the contents are at most the announced bytes");
    }
    Require(client.Read(buffer.get(), capacity) == 0, "a read at the end returns nothing");
    Require(client.member_problem().size() <= 2000, "problems are short");
  }
  Require(given <= most, "names and contents are at most the announced bytes");
  Require(!client.Next(&member), "no member follows the last one");
  Require(client.problem().size() <= 2000, "problems are short");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(Bytes(data, size));
  int ends[2];
  Require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0, "a socket pair is created");
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Require(memory != MAP_FAILED, "memory is mapped");
  auto* const shared = new (memory) Shared;
  const std::size_t capacity = 1 + choices.Byte();
  const bool whole = choices.OneIn(2);
  const Announced announced = SendMessages(choices, ends[1]);
  for (std::size_t i = kInputs; i < kBlocks; ++i) FillBlock(choices, &shared->blocks[i]);
  // The reader must not access bytes that no message announced.
  for (std::size_t i = kInputs; i < kBlocks; ++i)
    ASAN_POISON_MEMORY_REGION(shared->blocks[i].data() + announced.most[i], kBlockBytes - announced.most[i]);
  shutdown(ends[1], SHUT_WR);
  {
    const std::unique_ptr<ByteSource> source = OpenMemory(Bytes(data, size), capacity);
    SandboxedReader client(std::make_unique<WorkerProcess>(-1, ends[0], shared, kMemory), *source, Packing::kTar,
                           {[]() -> std::optional<std::string> { return std::nullopt; }});
    if (whole) {
      ReadAll(client, announced.bytes, capacity);
    } else {
      // Skip the contents of the members.
      ArchiveMember member;
      for (std::size_t members = 0; client.Next(&member); ++members)
        Require(members * sizeof(Record) <= announced.bytes, "there are at most as many members as records");
    }
  }
  ASAN_UNPOISON_MEMORY_REGION(memory, sizeof(Shared));  // these addresses may be reused
  close(ends[1]);
  return 0;
}
