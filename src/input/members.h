// Unpacks an input: returns the input itself, or everything packed in it at any depth, one stream after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/limits.h"

namespace whyoom {

class Members {
 public:
  // Borrows `control`, which may be null: it counts the bytes of the streams, and a stop request ends reading soon.
  Members(Artifact input, std::unique_ptr<ByteSource> source, const Limits& limits, ReadControl* control = nullptr);
  ~Members();

  // Returns the next stream of unpacked bytes, in stored order, or null at the end. Read it to its end; it is valid
  // until the next call. Sets `artifact`: the input if it is plain or only compressed; otherwise a file in the archive,
  // with its name as the member ("inner.tar/job.log" for an archive inside the archive).
  //
  // Converts UTF-16 to UTF-8. Skips programs and libraries, because no job printed the messages in them. Links, folders
  // and devices have no bytes.
  ByteSource* Next(Artifact* artifact);

  // Call after Next returned null. Everything that could not be read: damaged, encrypted, truncated or over a limit.
  // Data before the damage was returned by Next.
  std::vector<Problem> TakeProblems();

  // Whether a second run may give another result, because of a time limit or a failure of the system.
  bool may_differ() const { return may_differ_; }

 private:
  class Stream;
  struct Level;

  void Open(ByteSource& source, std::uint64_t cost);
  bool OpenPacked(std::unique_ptr<Stream>* packed);
  void OpenNextMember();
  void Close();
  void Skip(Stream& stream);
  bool EndsInput(std::string_view problem) const;
  void Report(const Artifact& artifact, std::string_view what);

  const Limits limits_;
  ReadControl* const control_;
  const Stop stop_;
  const Artifact input_;
  const std::unique_ptr<ByteSource> file_;
  bool opened_ = false;                // the file
  std::vector<Level> levels_;          // the open packed files, each packed in the one before
  Artifact current_;                   // what is being opened or read
  std::unique_ptr<ByteSource> plain_;  // the stream that Next returned
  std::vector<std::uint64_t> given_;   // bytes read, by depth; 0 is the file itself
  std::uint64_t looked_at_ = 0;        // see ByteSource::AddWork
  std::uint64_t members_ = 0;
  std::string reached_;  // the limit on bytes that was reached; empty if none was
  std::vector<Problem> problems_;
  std::uint64_t unreported_ = 0;  // number of problems beyond the limit
  std::string last_reported_;
  bool stopped_ = false;  // a limit of the whole input was reached
  bool may_differ_ = false;
};

}  // namespace whyoom
