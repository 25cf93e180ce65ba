#include "input/archive/archive_server.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "input/archive/archive_reader.h"
#include "input/archive/channel.h"
#include "input/archive/lockdown.h"

namespace whyoom {
namespace {

using archive_channel::kBlockBytes;
using archive_channel::kInputs;
using archive_channel::kMemory;
using archive_channel::kOutputs;
using archive_channel::kSocket;
using archive_channel::Message;
using archive_channel::Received;
using archive_channel::Record;
using archive_channel::Shared;

// What libarchive takes for itself whatever it reads: its blocks, tables and a decoder's state.
constexpr std::size_t kUsualMemory = std::size_t{32} << 20;

// Nobody is left to read for.
[[noreturn]] void Leave() { _exit(0); }

void Say(Message::Kind kind, std::size_t index = 0, std::uint64_t value = 0) {
  if (!archive_channel::Send(kSocket, {kind, static_cast<std::uint32_t>(index), value})) Leave();
}

// What the messages of the run have said so far.
class Inbox {
 public:
  // Waits for one.
  Message Take() {
    Message message;
    if (Receive(kSocket, -1, &message) != Received::kMessage) Leave();
    if (message.kind == Message::Kind::kInput && message.index < kInputs)
      filled_[message.index] = std::min<std::size_t>(message.value, kBlockBytes);
    if (message.kind == Message::Kind::kFree && message.index < kOutputs) free_[message.index] = true;
    return message;
  }

  // Waits for one of this kind.
  Message TakeOf(Message::Kind kind) {
    while (true) {
      const Message message = Take();
      if (message.kind == kind) return message;
    }
  }

  bool IsFilled(std::size_t block) const { return filled_[block].has_value(); }
  std::size_t TakeFilled(std::size_t block) {
    const std::size_t bytes = filled_[block].value_or(0);
    filled_[block].reset();
    return bytes;
  }
  void DropFilled() { filled_ = {}; }

  bool TakeFree(std::size_t block) { return std::exchange(free_[block], false); }
  void FreeAll() { free_.fill(true); }

 private:
  std::array<std::optional<std::size_t>, kInputs> filled_;
  std::array<bool, kOutputs> free_{};
};

// The records that the run reads, in blocks that go out when they are full or when this process waits.
class Output {
 public:
  Output(Shared& shared, Inbox& inbox) : shared_(shared), inbox_(inbox) {}

  void Add(Record record, std::string_view bytes) {
    bytes = bytes.substr(0, kBlockBytes - sizeof(Record));
    if (Room() < sizeof(Record) + bytes.size()) Send();
    record.bytes = static_cast<std::uint32_t>(bytes.size());
    Put(&record, sizeof(record));
    Put(bytes.data(), bytes.size());
  }

  void AddData(std::string_view bytes) {
    constexpr std::size_t kWorthwhile = 1024;
    while (!bytes.empty()) {
      if (Room() < sizeof(Record) + std::min(bytes.size(), kWorthwhile)) Send();
      const std::string_view part = bytes.substr(0, Room() - sizeof(Record));
      Add({Record::Kind::kData}, part);
      bytes.remove_prefix(part.size());
    }
  }

  // Gives what there is to the run.
  void Send() {
    if (block_ == kOutputs || used_ == 0) return;
    Say(Message::Kind::kOutput, block_, used_);
    block_ = kOutputs;
    next_ = (next_ + 1) % kOutputs;
    used_ = 0;
  }

 private:
  char* Block() {
    while (block_ == kOutputs) {
      if (inbox_.TakeFree(next_)) {
        block_ = next_;
      } else {
        inbox_.Take();
      }
    }
    return shared_.outputs[block_].data();
  }
  std::size_t Room() const { return kBlockBytes - used_; }
  void Put(const void* bytes, std::size_t size) {
    if (size > 0) std::memcpy(Block() + used_, bytes, size);
    used_ += size;
  }

  Shared& shared_;
  Inbox& inbox_;
  std::size_t block_ = kOutputs;  // being filled; none
  std::size_t next_ = 0;
  std::size_t used_ = 0;
};

// The archive's bytes, as the run gives them. One block is asked for while the other is read.
class FedSource : public ByteSource {
 public:
  FedSource(Shared& shared, Inbox& inbox, Output& output, std::optional<std::uint64_t> size)
      : shared_(shared), inbox_(inbox), output_(output), size_(size) {
    AskForAll();
  }

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (given_ == held_ && !Refill()) return 0;
    const std::size_t count = std::min(capacity, held_ - given_);
    std::memcpy(buffer, shared_.inputs[block_].data() + given_, count);
    given_ += count;
    return count;
  }

  std::optional<std::uint64_t> Size() const override { return size_; }

  bool SeekTo(std::uint64_t offset) override {
    // What was asked for before is answered before.
    Say(Message::Kind::kSeek, 0, offset);
    if (inbox_.TakeOf(Message::Kind::kSought).value == 0) return false;
    inbox_.DropFilled();
    ended_ = false;
    held_ = given_ = 0;
    AskForAll();
    return true;
  }

 private:
  void AskForAll() {
    block_ = kInputs - 1;  // the next one is the first
    for (std::size_t block = 0; block < kInputs; ++block) Say(Message::Kind::kNeed, block);
  }

  bool Refill() {
    if (ended_) return false;
    if (held_ > 0) Say(Message::Kind::kNeed, block_);
    block_ = (block_ + 1) % kInputs;
    if (!inbox_.IsFilled(block_)) output_.Send();
    while (!inbox_.IsFilled(block_)) inbox_.Take();
    held_ = inbox_.TakeFilled(block_);
    given_ = 0;
    ended_ = held_ == 0;
    return !ended_;
  }

  Shared& shared_;
  Inbox& inbox_;
  Output& output_;
  const std::optional<std::uint64_t> size_;
  std::size_t block_ = 0;
  std::size_t held_ = 0;
  std::size_t given_ = 0;
  bool ended_ = false;
};

void GiveMember(ArchiveReader& reader, const ArchiveMember& member, std::uint64_t number, const Shared& shared,
                Output& output) {
  output.Add({Record::Kind::kMember, 0, member.name.size(), member.has_content}, member.name + member.unreadable);
  if (!member.has_content || !member.unreadable.empty()) return;
  while (shared.unwanted.load(std::memory_order_relaxed) != number) {
    const std::uint64_t left_out = reader.left_out();
    const std::string_view bytes = reader.Take();
    if (bytes.empty()) break;
    if (reader.left_out() == left_out) {
      output.AddData(bytes);
    } else {
      output.Add({Record::Kind::kHole, 0, reader.left_out() - left_out}, {});
    }
  }
  output.Add({Record::Kind::kMemberEnd, 0, 0, reader.input_ended()}, reader.member_problem());
}

void Serve(Shared& shared, Inbox& inbox, const Message& begin, std::size_t memory) {
  inbox.DropFilled();
  inbox.FreeAll();
  Output output(shared, inbox);
  const std::optional<std::uint64_t> size =
      begin.value == Message::kNoSize ? std::nullopt : std::optional<std::uint64_t>(begin.value);
  FedSource source(shared, inbox, output, size);
  ArchiveReader reader(source, static_cast<Packing>(begin.index), memory);
  ArchiveMember member;
  for (std::uint64_t number = 1; reader.Next(&member); ++number) GiveMember(reader, member, number, shared, output);
  reader.Finish();
  output.Add({Record::Kind::kEnd}, reader.problem());
  output.Send();
}

// libarchive ends the process where it finds no memory for a name.
void LeaveWithoutMemory() { _exit(kNoMemoryStatus); }

}  // namespace

bool IsArchiveServer(int argc, char** argv) { return argc == 2 && std::string_view(argv[0]) == kArchiveServerName; }

void ServeArchives(const char* memory) {
  EndWithParent();
  void* const mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, kMemory, 0);
  if (mapped == MAP_FAILED) _exit(1);
  Shared& shared = *static_cast<Shared*>(mapped);
  CloseAllBut(kSocket);
  const auto limit = static_cast<std::size_t>(std::strtoull(memory, nullptr, 10));
  ArchiveReader::Prepare();
  std::atexit(LeaveWithoutMemory);
  std::set_new_handler(LeaveWithoutMemory);
  LockDown(limit > SIZE_MAX - kUsualMemory ? limit : limit + kUsualMemory);
  Inbox inbox;
  while (true) {
    Say(Message::Kind::kReady);
    Serve(shared, inbox, inbox.TakeOf(Message::Kind::kBegin), limit);
  }
}

}  // namespace whyoom
