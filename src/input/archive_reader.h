// The members of an archive one after another, in the order in which they lie in it; libarchive does the work. What is
// packed round an archive is undone before (decompress.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "input/byte_source.h"
#include "input/packing.h"

struct archive;
struct archive_entry;

namespace whyoom {

struct ArchiveMember {
  std::string name;          // as in the archive: any bytes
  bool has_content = false;  // false for folders, links and devices
  std::string unreadable;    // why its content cannot be read, as a sentence for people; empty where it can
};

class ArchiveReader {
 public:
  // Borrows `source`, which stands at the beginning of the archive; a 7z needs one with a Size(). `memory` limits what
  // libarchive keeps of the bytes it was given, such as a name of 4 GiB.
  ArchiveReader(ByteSource& source, Packing packing, std::size_t memory);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // Goes on to the next member, whether the one before was read to its end or not; false at the end of the archive or
  // of what can be read of it. In a zip members behind a damaged one are found again.
  bool Next(ArchiveMember* member);

  // The next bytes of the member at hand, and why they ended early.
  std::size_t Read(char* buffer, std::size_t capacity);
  std::string_view member_problem() const { return member_problem_; }

  // Reads what lies behind the archive, so that checksums at the end of what it is packed in are looked at, too. Only
  // after Next was false.
  void Finish();

  // Why the archive as a whole ended early; empty where it did not.
  std::string_view problem() const { return problem_; }

 private:
  struct Callbacks;

  void Open();
  std::size_t Fill(std::size_t keep);
  std::uint64_t Consumed() const;
  std::size_t Unused() const;
  bool FindNextInZip();
  void Describe(ArchiveMember* member);
  void SeeBehind(std::string_view bytes);
  std::string Words() const;       // libarchive's for its last error
  void Note(std::string problem);  // the first is the cause of the others

  ByteSource& source_;
  const Packing packing_;
  const std::size_t memory_;
  archive* archive_ = nullptr;
  archive_entry* entry_;
  std::unique_ptr<char[]> block_;
  std::size_t held_ = 0;      // bytes in block_
  std::uint64_t fed_ = 0;     // bytes given to libarchive
  std::uint64_t zeros_ = 0;   // that the bytes read so far end with
  bool block_waits_ = false;  // it is still to be given to libarchive
  bool broken_ = false;       // libarchive does not go on
  bool unreadable_ = false;   // the member at hand
  bool ended_ = false;        // nothing more comes
  bool ended_well_ = false;   // by what libarchive saw as the end
  int restarts_ = 0;          // behind damage
  std::exception_ptr failure_;
  std::string problem_;
  std::string member_problem_;
};

}  // namespace whyoom
