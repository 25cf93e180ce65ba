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

  // The innermost frame outside libraries of the traceback that ends right before the last line fed, or in it; where it
  // has none, of the one whose consequence it is. nullopt where there is no such traceback or frame.
  std::optional<UserCall> user_call() const;

 private:
  std::optional<UserCall> call_;
  int lines_since_ = 0;          // since the last line that belonged to a traceback
  bool is_consequence_ = false;  // "The above exception was the direct cause of …" was seen, its traceback not yet
};

}  // namespace whyoom
