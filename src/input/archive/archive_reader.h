// Reads an archive in this process; libarchive does the work. What is packed round an archive is undone before
// (decompress.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "input/archive/member_reader.h"
#include "input/archive/zip_list.h"
#include "input/byte_source.h"
#include "input/packing.h"

struct archive;
struct archive_entry;

namespace whyoom {

// "unpacking its zip data further needs more than 128 MiB (--max-memory); what follows was not read"
std::string NeedsMore(Packing packing, std::size_t memory);

class ArchiveReader : public MemberReader {
 public:
  // Borrows `source`, which stands at the beginning of the archive; a 7z needs one with a Size(). `memory` limits what
  // libarchive keeps of the bytes it was given, such as a name of 4 GiB.
  ArchiveReader(ByteSource& source, Packing packing, std::size_t memory);
  ~ArchiveReader() override;
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // Has libarchive load what it may need, for a process that may open no file later.
  static void Prepare();

  // What Read gives next, as much as there is at hand; empty at the member's end. Valid until the next call of
  // anything.
  std::string_view Take();

  bool Next(ArchiveMember* member) override;
  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::uint64_t left_out() const override { return left_out_; }
  std::string_view member_problem() const override { return member_problem_; }
  bool input_ended() const override { return input_ended_; }
  void Finish() override;
  std::string_view problem() const override { return problem_; }

 private:
  struct Callbacks;

  void Open();
  std::size_t Fill(std::size_t keep);
  std::uint64_t Consumed() const;
  std::size_t Unused() const;
  bool FindNextInZip();
  bool HasTooManyLinks();
  void Describe(ArchiveMember* member);
  bool HasContent();
  bool IsOfName() const;
  void SeeBehind(std::string_view bytes);
  std::string Words() const;       // libarchive's for its last error
  std::string Damage() const;      // the same of one behind which it goes on
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
  std::string_view first_;    // what Take gives first
  std::string_view piece_;    // of it, in libarchive's memory, which stands behind a hole
  std::string_view taken_;    // what Read has still to give
  std::uint64_t at_ = 0;      // where the piece after that lies in it
  std::uint64_t left_out_ = 0;
  bool input_ended_ = false;
  bool ended_ = false;               // nothing more comes
  bool ended_well_ = false;          // by what libarchive saw as the end
  int restarts_ = 0;                 // behind damage
  int linked_ = 0;                   // members with several names
  std::optional<ZipList> zip_list_;  // nothing where damage was told, or it is no zip
  std::exception_ptr failure_;
  std::string problem_;
  std::string member_problem_;
  std::string late_problem_;  // to be told behind the piece at hand
};

}  // namespace whyoom
