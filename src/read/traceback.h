// Follows the Python tracebacks of one reporter, to name the user's own line that a failure came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/evidence.h"
#include "text/line.h"

namespace whyoom {

struct UserCall {
  std::string source;  // "train.py:41"
  std::string path;    // as the frame names it: "/home/user/job/train.py"
  Place place;         // of the frame in the log
};

class Traceback {
 public:
  // Some of these stand in the raw bytes of each traceback's first lines.
  static const std::vector<std::string>& Openers();

  // Takes the reporter's next line, whatever it is.
  void Feed(const Line& line);

  // Lines are missing after the last one: no traceback goes on beyond them.
  void Reset() { *this = Traceback(); }

  // The innermost frame outside libraries of the traceback whose exception the last line fed is, or is part of; where
  // it has none, of the one whose consequence it is. nullopt where there is no such traceback or frame, and where a
  // failure took it that begins in an earlier line: an exception is one failure.
  std::optional<UserCall> user_call() const;

  // The failure that begins in the last line fed is what the traceback ends with.
  void Take() { taken_ = true; }

 private:
  // What came behind the frames.
  enum class Exception {
    kNone,     // nothing yet
    kOpening,  // its class, status word or code alone: what it says is still to come
    kSaid,     // its first words
  };
  void FollowException(const Line& line);

  std::optional<UserCall> call_;
  int lines_since_ = 0;          // since the last line that belonged to a traceback
  bool is_consequence_ = false;  // "The above exception was the direct cause of …" was seen, its traceback not yet
  Exception exception_ = Exception::kNone;
  bool is_logged_ = false;            // the exception's first line, see Line
  std::optional<bool> frame_logged_;  // whether the last frame was; none where there is none yet
  bool interrupted_ = false;          // a logger's line came between the frames and what they end with
  bool ended_ = false;                // the last line fed is no part of the exception any more
  bool taken_ = false;                // by a failure that begins in the last line fed or before it
};

}  // namespace whyoom
