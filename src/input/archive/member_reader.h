// The members of an archive one after another, in the order in which they lie in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace whyoom {

struct ArchiveMember {
  std::string name;          // as in the archive: any bytes, at most kLongestMemberName of them
  bool has_content = false;  // false for folders, links and devices
  std::string unreadable;    // why its content cannot be read, as a sentence for people; empty where it can
};

// File systems know paths of 4 KiB.
constexpr std::size_t kLongestMemberName = std::size_t{1} << 16;

class MemberReader {
 public:
  virtual ~MemberReader() = default;

  // Goes on to the next member, whether the one before was read to its end or not; false at the end of the archive or
  // of what can be read of it. In a zip members behind a damaged one are found again.
  virtual bool Next(ArchiveMember* member) = 0;

  // The next bytes of the member at hand; 0 at its end. A hole in a sparse file is one zero, however long it is: a
  // header of some bytes may say that there are terabytes of it.
  virtual std::size_t Read(char* buffer, std::size_t capacity) = 0;

  // How many of the member's bytes the zeros for holes that were given so far stand for, beyond themselves.
  virtual std::uint64_t left_out() const = 0;

  // Why the member at hand ended early, and whether that was since the archive's own bytes did.
  virtual std::string_view member_problem() const = 0;
  virtual bool input_ended() const = 0;

  // Reads what lies behind the archive, so that checksums at the end of what it is packed in are looked at, too. Only
  // after Next was false.
  virtual void Finish() = 0;

  // Why the archive as a whole ended early; empty where it did not.
  virtual std::string_view problem() const = 0;

  // Whether another time it may not end there.
  virtual bool may_differ() const { return false; }
};

}  // namespace whyoom
