#include "input/archive/archive_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace whyoom {
namespace {

using archive_channel::kBlockBytes;
using archive_channel::kInputs;
using archive_channel::kOutputs;
using archive_channel::Message;
using archive_channel::Received;
using archive_channel::Record;
using archive_channel::Send;

// How long an interrupt may have to wait.
constexpr int kMilliseconds = 100;

// Sentences are short.
constexpr std::size_t kLongestProblem = 1000;

}  // namespace

ArchiveClient::ArchiveClient(std::unique_ptr<ArchiveProcess> process, ByteSource& source, Packing packing,
                             std::function<std::optional<std::string>()> why_stop, std::chrono::milliseconds patience)
    : process_(std::move(process)),
      source_(source),
      packing_(packing),
      why_stop_(std::move(why_stop)),
      patience_(patience) {
  const Message begin{Message::Kind::kBegin, static_cast<std::uint32_t>(packing),
                      source.Size().value_or(Message::kNoSize)};
  if (!Send(process_->socket(), begin)) Lose();
}

// What the process says may be anything; where it is no answer that one gives, it is not asked again.
void ArchiveClient::Lose() {
  if (!process_) return;
  std::string why = process_->WhyGone(packing_, &may_differ_);
  process_.reset();
  Give(std::move(why));
}

void ArchiveClient::Give(std::string problem) {
  if (in_member_) {
    EndMember(std::move(problem));
  } else {
    problem_ = std::move(problem);
  }
}

// Ends the process where it is no longer to be waited for.
bool ArchiveClient::Stopped() {
  std::optional<std::string> why = why_stop_();
  if (!why && Clock::now() - progress_ > patience_) {
    may_differ_ = true;
    why = fmt::format(
        "its {} data was not unpacked further, since one step takes more than {} s; what follows was not read",
        NameOf(packing_), std::chrono::duration<double>(patience_).count());
  }
  if (!why) return false;
  process_.reset();
  Give(*std::move(why));
  return true;
}

void ArchiveClient::EndMember(std::string problem) {
  in_member_ = false;
  left_ = 0;
  member_problem_ = std::move(problem);
}

// Behind the archive's last record.
void ArchiveClient::End() {
  Message message;
  BeginStep();
  while (process_ && !Stopped()) {
    const Received received = Receive(process_->socket(), kMilliseconds, &message);
    if (received == Received::kMessage && message.kind == Message::Kind::kReady)
      return ArchiveProcess::PutBack(std::move(process_));
    // What it was still to be given matters no more, and one that does not come to its end is ended.
    if (received != Received::kMessage || message.kind != Message::Kind::kNeed) process_.reset();
  }
}

// False where `message` is none that can come.
bool ArchiveClient::Answer(const Message& message) {
  if (message.kind == Message::Kind::kNeed && message.index < kInputs) {
    const std::size_t got = source_.Read(process_->shared().inputs[message.index].data(), kBlockBytes);
    position_ += got;
    if (position_ > furthest_) BeginStep();
    furthest_ = std::max(furthest_, position_);
    return Send(process_->socket(), {Message::Kind::kInput, message.index, got});
  }
  if (message.kind != Message::Kind::kSeek) return false;
  const bool sought = source_.SeekTo(message.value);
  if (sought) position_ = message.value;
  return Send(process_->socket(), {Message::Kind::kSought, 0, sought ? 1U : 0U});
}

bool ArchiveClient::NextBlock() {
  if (!process_) return false;
  if (block_ < kOutputs && !Send(process_->socket(), {Message::Kind::kFree, static_cast<std::uint32_t>(block_), 0})) {
    Lose();
    return false;
  }
  block_ = kOutputs;
  BeginStep();
  // Asked before each message: a process that was taken over may send them without end.
  while (!Stopped()) {
    Message message;
    const Received received = Receive(process_->socket(), kMilliseconds, &message);
    if (received == Received::kNothingYet) continue;
    if (received == Received::kMessage && message.kind == Message::Kind::kOutput && message.index < kOutputs &&
        message.value <= kBlockBytes) {
      block_ = message.index;
      held_ = message.value;
      used_ = 0;
      return true;
    }
    if (received == Received::kGone || !Answer(message)) {
      Lose();
      return false;
    }
  }
  return false;
}

bool ArchiveClient::NextRecord() {
  if (process_) used_ += left_;
  left_ = 0;
  while (process_ && (block_ == kOutputs || used_ == held_)) {
    if (!NextBlock()) return false;
  }
  if (!process_) return false;
  if (held_ - used_ >= sizeof(Record)) {
    std::memcpy(&record_, process_->shared().outputs[block_].data() + used_, sizeof(Record));
    used_ += sizeof(Record);
    if (record_.bytes <= held_ - used_) {
      left_ = record_.bytes;
      return true;
    }
  }
  Lose();
  return false;
}

std::string ArchiveClient::TakeBytes(std::size_t count) {
  count = std::min(count, left_);
  std::string bytes(process_->shared().outputs[block_].data() + used_, count);
  used_ += count;
  left_ -= count;
  return bytes;
}

bool ArchiveClient::Next(ArchiveMember* member) {
  if (in_member_ && process_) process_->shared().unwanted.store(number_, std::memory_order_relaxed);
  in_member_ = false;
  member_problem_.clear();
  left_out_ = 0;
  while (NextRecord()) {
    if (record_.kind == Record::Kind::kMember) {
      ++number_;
      member->name = TakeBytes(std::min<std::uint64_t>(record_.value, kLongestMemberName));
      member->unreadable = TakeBytes(kLongestProblem);
      member->has_content = record_.flag != 0;
      in_member_ = member->has_content && member->unreadable.empty();
      return true;
    }
    if (record_.kind == Record::Kind::kEnd) {
      problem_ = TakeBytes(kLongestProblem);
      End();
    }
  }
  return false;
}

std::size_t ArchiveClient::Read(char* buffer, std::size_t capacity) {
  if (capacity == 0) return 0;
  while (in_member_ && (record_.kind != Record::Kind::kData || left_ == 0)) {
    if (!NextRecord()) {
      in_member_ = false;
    } else if (record_.kind == Record::Kind::kHole) {
      left_out_ += record_.value;
      *buffer = '\0';
      return 1;
    } else if (record_.kind == Record::Kind::kMemberEnd) {
      input_ended_ = record_.flag != 0;
      EndMember(TakeBytes(kLongestProblem));
    } else if (record_.kind != Record::Kind::kData) {
      Lose();
    }
  }
  if (!in_member_) return 0;
  const std::size_t count = std::min(capacity, left_);
  std::memcpy(buffer, process_->shared().outputs[block_].data() + used_, count);
  used_ += count;
  left_ -= count;
  return count;
}

}  // namespace whyoom
