// Follows a file: at its end, waits for more data.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "input/byte_source.h"
#include "input/limits.h"

namespace whyoom {

class FollowSource : public ByteSource {
 public:
  enum class State {
    kOpen,      // there may be more
    kQuiet,     // nothing came for a while; the next Read waits for more
    kReplaced,  // the file was truncated or renamed (log rotation); everything written before was read
    kEnded,     // the pipe was closed, a stop was requested, time is up, or reading failed
  };

  static constexpr std::chrono::milliseconds kQuietTime{1000};

  // Opens `path` ("-": standard input) from its start; waits for it if it does not exist yet. Read returns 0 after
  // `quiet` without new bytes, once per such pause. Borrows `control` and `time`, which may be null: the source ends
  // when `control` requests a stop or the time limit is reached.
  FollowSource(std::string path, const ReadControl& control, std::chrono::milliseconds quiet = kQuietTime,
               const Quota* time = nullptr);

  // As ByteSource::Read, but 0 is the permanent end only if state() is kReplaced or kEnded.
  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::string_view problem() const override { return problem_; }

  // Why Read returned 0.
  State state() const { return state_; }

 private:
  bool Open();
  bool IsReplaced() const;
  bool IsRewritten() const;
  void Wait() const;

  const std::string path_;
  const ReadControl& control_;
  const std::chrono::milliseconds quiet_;
  const Quota* const time_;
  Descriptor descriptor_;
  bool is_file_ = false;  // a regular file, which may grow after its end
  std::uint64_t given_ = 0;
  std::string beginning_;  // the first bytes given
  State state_ = State::kOpen;
  bool reported_quiet_ = false;
  std::string problem_;
};

}  // namespace whyoom
