// Follows a file: at its end, waits for more data.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "input/byte_source.h"
#include "input/limits.h"

namespace whyoom {

class FollowSource : public ByteSource {
 public:
  // Opens `path` ("-": standard input); waits for it if it does not exist yet. Borrows `stop`, which ends the source.
  // `quiet`: see Read.
  FollowSource(std::string path, const Stop& stop, std::chrono::milliseconds quiet = std::chrono::seconds(1))
      : path_(std::move(path)), stop_(stop), quiet_(quiet) {}

  // As ByteSource::Read, but 0 is the permanent end only if ended(). Otherwise nothing came for the quiet time; the
  // next Read waits for more.
  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::string_view problem() const override { return problem_; }

  // The pipe was closed, a stop was requested, or reading failed.
  bool ended() const { return ended_; }

 private:
  bool IsReady();
  void End(std::string problem);

  const std::string path_;
  const Stop& stop_;
  const std::chrono::milliseconds quiet_;
  Descriptor file_;
  bool began_ = false;           // some bytes were read
  bool may_grow_ = false;        // a regular file
  bool reported_quiet_ = false;  // since the last bytes
  bool ended_ = false;
  std::string problem_;
};

}  // namespace whyoom
