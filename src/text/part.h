// A part of a raw line that is being cleaned, and those parts whose rest is still to come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "text/line.h"
#include "text/timestamp.h"

namespace whyoom {

// What is known of a text beside what it says.
struct Origin {
  std::uint64_t number = 0;  // of the raw line, as in Line
  std::uint64_t offset = 0;
  std::string reporter;
  int repeats = 1;
  std::optional<Timestamp> time;
  std::string open_time;  // as in Line
  bool logged = false;    // as in Line
  bool goes_on = false;   // its collector cut the line here; the rest is in the reporter's next raw line
  bool binary = false;    // as in Line
  MappedText written;     // as in Line
};

struct Part : Origin {
  MappedText text;
};

// Beginnings of lines that a collector cut, by reporter.
class Unfinished {
 public:
  bool empty() const { return parts_.empty(); }

  enum class Joined { kNot, kKept, kWhole };

  // Puts `part` behind what its reporter began. kKept: it goes on, and was taken. kWhole: it now is all of the line.
  // kNot: nothing was begun, and it does not go on.
  Joined Join(Part* part);

  // Takes out one that waits, or has waited for too many raw lines (`all`: any one).
  std::optional<Part> TakeOverdue(bool all);

  // A raw line was read.
  void CountLine() { ++lines_; }

 private:
  struct Begun {
    Part part;
    std::uint64_t at = 0;  // lines_ when its last piece came
  };
  std::map<std::string, Begun> parts_;
  std::uint64_t lines_ = 0;
};

}  // namespace whyoom
