// A source that does not end with its file: it waits for what is written next.
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
    kReplaced,  // the file was cut, or another one has its name now (log rotation); what was written before is read
    kEnded,     // the pipe was closed, the control says stop, or reading failed
  };

  static constexpr std::chrono::milliseconds kQuietTime{1000};

  // Opens `path` ("-": standard input) at its begin and waits where it is not there yet. Read gives 0 after `quiet`
  // without new bytes, once for each such while. Borrows `control`, whose stop ends everything, and `time`, which
  // may be null: once it is up, everything ends, too.
  FollowSource(std::string path, const ReadControl& control, std::chrono::milliseconds quiet = kQuietTime,
               const Quota* time = nullptr);
  ~FollowSource() override;

  // As ByteSource; 0 is not the end for good but where state() says so.
  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::string_view problem() const override { return problem_; }

  // Why Read gave 0.
  State state() const { return state_; }

 private:
  bool Open();
  bool IsPacked(std::string_view first);
  bool IsReplaced() const;
  void Wait() const;

  const std::string path_;
  const ReadControl& control_;
  const std::chrono::milliseconds quiet_;
  const Quota* const time_;
  int descriptor_ = -1;
  bool is_file_ = false;  // a regular file, whose end means nothing
  std::uint64_t given_ = 0;
  State state_ = State::kOpen;
  bool told_quiet_ = false;
  std::string problem_;
};

}  // namespace whyoom
