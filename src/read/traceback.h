// Follows the Python tracebacks of one stream, to find the line of the user's code that led to a failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/evidence.h"
#include "text/line.h"

namespace whyoom {

struct UserCall {
  std::string source;     // "train.py:41"
  std::string path;       // as in the frame: "/home/user/job/train.py"
  Place place;            // of the frame in the log
  bool compiles = false;  // it only compiles: "step.lower(x).compile()"; what it compiles is elsewhere
};

class Traceback {
 public:
  // The raw bytes of each traceback's first lines contain one of these.
  static const std::vector<std::string>& Openers();

  // Processes the stream's next line, whatever it contains.
  void Feed(const Line& line);

  // Call if lines are missing after the last one: no traceback continues across a gap.
  void Reset() { *this = Traceback(); }

  // Returns the innermost frame outside libraries of the traceback whose exception contains the last line fed. Returns
  // nullopt if there is none, or if Take() assigned the traceback to a failure in an earlier line.
  std::optional<UserCall> user_call() const;

  // Assigns the traceback to the failure that begins in the last line fed. Failures in later lines do not get it.
  void Take() { taken_ = true; }

 private:
  void FollowException(const Line& line);

  std::optional<UserCall> call_;
  bool is_user_frame_ = false;  // whether the last frame is that of `call_`
  int lines_since_ = 0;         // since the last line that belonged to a traceback
  bool in_exception_ = false;   // its first line was fed
  bool awaits_text_ = false;    // only its class, status word or code was fed
  bool is_logged_ = false;      // whether the line with its text was logged
  bool ended_ = false;          // the last line fed does not belong to the exception
  bool taken_ = false;          // assigned to a failure that begins in the last line fed or before it
};

}  // namespace whyoom
