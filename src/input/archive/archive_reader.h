// Reads the members of an archive in stored order, using libarchive.
#pragma once

#include <sys/types.h>

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
  std::string name;          // any bytes, at most kLongestMemberName
  bool has_content = false;  // false for folders, links and devices
  std::string unreadable;    // why the content cannot be read, for users; empty if it can
};

// File systems accept paths of up to 4 KiB.
constexpr std::size_t kLongestMemberName = std::size_t{1} << 16;

class MemberReader {
 public:
  virtual ~MemberReader() = default;

  // Goes to the next member, even if the previous one was not read to its end. Returns false at the end of the archive
  // or of its readable part. In a zip, members after a damaged one are found again.
  virtual bool Next(ArchiveMember* member) = 0;

  // Reads the next bytes of the current member; returns 0 at its end. A hole in a sparse file is returned as one zero,
  // because a short header can declare terabytes of them.
  virtual std::size_t Read(char* buffer, std::size_t capacity) = 0;

  // The number of zeros in holes that Read has left out of the current member so far.
  std::uint64_t left_out() const { return left_out_; }

  // Why the current member ended early, and whether that was because the bytes of the archive ended.
  std::string_view member_problem() const { return member_problem_; }
  bool input_ended() const { return input_ended_; }

  // Why the whole archive ended early, or empty. may_differ(): a retry may succeed (the worker died or was too slow).
  std::string_view problem() const { return problem_; }
  bool may_differ() const { return may_differ_; }

 protected:
  std::uint64_t left_out_ = 0;
  bool input_ended_ = false;
  bool may_differ_ = false;
  std::string member_problem_;
  std::string problem_;
};

// "unpacking its zip data further needs more than 128 MiB (--max-memory); the rest was not read"
std::string NeedsMore(Packing packing, std::size_t memory);

// Reads an archive in this process.
class ArchiveReader : public MemberReader {
 public:
  // Borrows `source`, which is at the start of the archive. `memory` limits the bytes of the archive that libarchive
  // may buffer, for example for a name of 4 GiB.
  ArchiveReader(ByteSource& source, Packing packing, std::size_t memory);
  ~ArchiveReader() override;
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // Sets a locale that can express all names, because libarchive drops names that the thread's locale cannot express.
  // The constructor also calls it, but it has no effect in a process that may not open files.
  static void UseUtf8Names();

  bool Next(ArchiveMember* member) override;
  std::size_t Read(char* buffer, std::size_t capacity) override;

  // Whether Read would return bytes. If true, the next Read does not read from the source.
  bool HasPiece();

 private:
  static ssize_t Feed(archive*, void* self, const void** bytes);

  void Open();
  std::size_t Fill(std::size_t keep);
  std::uint64_t Consumed() const;
  std::size_t Unused() const;
  std::string_view Last(std::size_t count) const { return {buffer_.get() + held_ - count, count}; }
  bool FindNextInZip();
  bool HasTooManyLinks();
  void Describe(ArchiveMember* member);
  bool HasContent();
  void ReadEnd();
  std::string ZipEndProblem(std::string_view end, std::uint64_t size) const;
  bool IsOfName() const;
  std::string CannotUnpack() const;
  std::string Damage() const;
  std::string Sentence(std::string_view what) const;
  void Note(std::string problem);

  ByteSource& source_;
  const Packing packing_;
  const std::size_t memory_;
  archive* archive_ = nullptr;
  archive_entry* entry_;
  std::exception_ptr failure_;  // thrown by source_ inside libarchive; rethrown after its return

  std::unique_ptr<char[]> buffer_;
  std::size_t held_ = 0;     // bytes in buffer_
  std::size_t begin_ = 0;    // offset of the bytes passed to libarchive
  bool refeed_ = false;      // pass the same bytes to libarchive again
  std::uint64_t fed_ = 0;    // bytes passed to libarchive
  std::uint64_t zeros_ = 0;  // number of zeros at the end of the bytes read so far

  std::uint64_t hole_ = 0;   // zeros to return before piece_
  std::string_view piece_;   // bytes in libarchive's memory, to return next
  std::uint64_t at_ = 0;     // offset in the member where the next piece should begin
  bool broken_ = false;      // libarchive cannot continue
  bool unreadable_ = false;  // the current member
  bool ended_ = false;       // there are no more members
  bool ended_well_ = false;  // libarchive recognized the end
  bool end_read_ = false;
  int restarts_ = 0;         // after damage
  int linked_ = 0;           // members with several names
  std::uint64_t found_ = 0;  // members
  bool check_end_;           // compare found_ with the count in the zip's end record
};

}  // namespace whyoom
