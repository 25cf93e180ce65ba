// Reads an archive by a process that has nothing else in it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "input/archive/archive_process.h"
#include "input/archive/channel.h"
#include "input/archive/member_reader.h"
#include "input/byte_source.h"
#include "input/packing.h"

namespace whyoom {

class ArchiveClient : public MemberReader {
 public:
  // Borrows `source`, which stands at the beginning of the archive and is read by the calling thread alone; a 7z needs
  // one with a Size(). Once `why_stop` gives something, which is asked again and again while the process works, the
  // archive ends there, and that is told; nothing where it is empty. A process that for longer than `patience` neither
  // gives anything nor gets further in the archive is ended: it may have been stopped, or do nothing else any more.
  ArchiveClient(std::unique_ptr<ArchiveProcess> process, ByteSource& source, Packing packing,
                std::function<std::optional<std::string>()> why_stop, std::chrono::milliseconds patience = kPatience);
  ArchiveClient(const ArchiveClient&) = delete;
  ArchiveClient& operator=(const ArchiveClient&) = delete;

  bool Next(ArchiveMember* member) override;
  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::uint64_t left_out() const override { return left_out_; }
  std::string_view member_problem() const override { return member_problem_; }
  bool input_ended() const override { return input_ended_; }
  void Finish() override {}  // the process does it
  std::string_view problem() const override { return problem_; }
  bool may_differ() const override { return may_differ_; }

 private:
  static constexpr std::chrono::seconds kPatience{20};
  using Clock = std::chrono::steady_clock;

  // False where no record comes any more.
  bool NextRecord();
  bool NextBlock();
  bool Answer(const archive_channel::Message& message);
  std::string TakeBytes(std::size_t count);
  void EndMember(std::string problem);
  void End();
  void Lose();
  bool Stopped();
  void BeginStep() { progress_ = Clock::now(); }
  void Give(std::string problem);

  std::unique_ptr<ArchiveProcess> process_;  // null once the archive has ended
  ByteSource& source_;
  const Packing packing_;
  const std::function<std::optional<std::string>()> why_stop_;
  const std::chrono::milliseconds patience_;
  Clock::time_point progress_ = Clock::now();  // when the process was last seen to get further
  std::uint64_t position_ = 0;                 // in the archive, of the next byte that it gets
  std::uint64_t furthest_ = 0;                 // of all that it got

  std::size_t block_ = archive_channel::kOutputs;  // being read; none
  std::size_t used_ = 0;
  std::size_t held_ = 0;
  archive_channel::Record record_;
  std::size_t left_ = 0;  // of the record's bytes, to be taken

  std::uint64_t number_ = 0;  // of the member at hand
  bool in_member_ = false;
  bool may_differ_ = false;
  std::uint64_t left_out_ = 0;
  bool input_ended_ = false;
  std::string member_problem_;
  std::string problem_;
};

}  // namespace whyoom
