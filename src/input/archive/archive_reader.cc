// Reads the members of an archive in stored order, using libarchive.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "input/archive/unpacker.h"

namespace whyoom {
namespace {

constexpr std::size_t kArchiveBlock = std::size_t{1} << 17;

class ArchiveReader : public Unpacker {
 public:
  ArchiveReader(ByteSource& source, Packing packing, std::size_t memory);
  ~ArchiveReader() override {
    archive_entry_free(entry_);
    archive_read_free(archive_);
  }

  bool Next(std::string* name) override;
  std::size_t Read(char* buffer, std::size_t capacity) override;

 private:
  // The callback with which libarchive reads. Exceptions must not cross libarchive, which is C code.
  static la_ssize_t Feed(archive* archive, void* self, const void** bytes) {
    auto& reader = *static_cast<ArchiveReader*>(self);
    *bytes = reader.buffer_.get();
    // What libarchive has not used yet, it buffers: a name of 4 GiB, for example.
    const auto used = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_filter_bytes(archive, -1), 0));
    if (reader.fed_ > used + reader.memory_) {
      reader.Note(NeedsMore(reader.packing_, reader.memory_));
      return ARCHIVE_FATAL;
    }
    try {
      return static_cast<la_ssize_t>(reader.Fill());
    } catch (const std::bad_alloc&) {
      archive_set_error(archive, ENOMEM, "not enough memory");
      return ARCHIVE_FATAL;
    }
  }

  std::size_t Fill() {
    const std::size_t got = source_.Read(buffer_.get(), kArchiveBlock);
    const std::size_t last = std::string_view(buffer_.get(), got).find_last_not_of('\0');
    zeros_ = last == std::string_view::npos ? zeros_ + got : got - 1 - last;
    fed_ += got;
    return got;
  }

  std::string CannotUnpack() const {
    if (archive_errno(archive_) == ENOMEM) return NeedsMore(packing_, memory_);
    return Sentence("cannot be unpacked further");
  }

  std::string Sentence(std::string_view what) const {
    const char* why = archive_error_string(archive_);
    return fmt::format("its {} data {}: {}", NameOf(packing_), what, why == nullptr ? "a header cannot be read" : why);
  }

  // Returns null if there is no name. In the C locale, libarchive returns a name stored as Unicode only as UTF-8.
  const char* StoredName() const {
    errno = 0;  // as in Next
    const char* name = archive_entry_pathname_utf8(entry_);
    return name == nullptr ? archive_entry_pathname(entry_) : name;
  }

  // Folders, links and devices have none. A link with a size is a file with several names that has its content here.
  bool HasContent() const {
    const auto type = archive_entry_filetype(entry_);
    return (type == AE_IFREG || type == 0) &&
           (archive_entry_hardlink(entry_) == nullptr || archive_entry_size(entry_) > 0);
  }

  // Reads what follows the members, so that checksums at the end of an outer packing are checked too.
  void ReadEnd() {
    constexpr std::size_t kEndMark = 512;
    while (Fill() > 0) {
    }
    if (packing_ == Packing::kTar && zeros_ < kEndMark) Note("its tar data has no end mark, so members may be missing");
  }

  // Keeps the first problem, which caused the others.
  void Note(std::string problem) {
    if (archive_problem_.empty()) archive_problem_ = std::move(problem);
  }

  ByteSource& source_;
  const Packing packing_;
  const std::size_t memory_;
  archive* const archive_ = archive_read_new();
  archive_entry* const entry_ = archive_entry_new();
  const std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kArchiveBlock);
  std::uint64_t zeros_ = 0;  // number of zeros at the end of the bytes read so far
  std::uint64_t fed_ = 0;    // bytes read so far

  std::string_view piece_;  // bytes of the member in libarchive's memory, to return next
  std::uint64_t at_ = 0;    // offset in the member where the next piece should begin
  bool ended_ = false;      // there are no more members
};

ArchiveReader::ArchiveReader(ByteSource& source, Packing packing, std::size_t memory)
    : source_(source), packing_(packing), memory_(memory) {
  if (archive_ == nullptr || entry_ == nullptr) throw std::bad_alloc();
  UseUtf8Names();
  if (packing == Packing::kTar) {
    // Also reads the output of `cat a.tar b.tar`.
    archive_read_support_format_tar(archive_);
    archive_read_set_format_option(archive_, "tar", "read_concatenated_archives", "1");
  } else {
    // Reads the members in order, without the list at the end: a pipe works like a file, a truncated archive is read up
    // to the cut, and overlapping members are read once.
    archive_read_support_format_zip_streamable(archive_);
  }
  archive_read_set_callback_data(archive_, this);
  archive_read_set_read_callback(archive_, &ArchiveReader::Feed);
  ended_ = archive_read_open1(archive_) != ARCHIVE_OK;
  if (ended_) Note(CannotUnpack());
}

bool ArchiveReader::Next(std::string* name) {
  constexpr int kMostRetries = 16;
  const bool reported = !member_problem_.empty();
  member_problem_.clear();
  piece_ = {};
  at_ = 0;
  for (int retries = 0; !ended_;) {
    errno = 0;  // libarchive exits if errno is ENOMEM, even if another call set it
    const int result = archive_read_next_header2(archive_, entry_);
    if (result == ARCHIVE_EOF) {
      ended_ = true;
      if (!reported) ReadEnd();
    } else if (result == ARCHIVE_RETRY) {
      Note(Sentence("is damaged, so members may be missing"));
      ended_ = ++retries == kMostRetries;
    } else if (result == ARCHIVE_FATAL || (result == ARCHIVE_FAILED && StoredName() == nullptr)) {
      if (!reported) Note(CannotUnpack());
      ended_ = true;
    } else {
      // A failure with a name means that the rest of the previous member is damaged.
      if (result == ARCHIVE_FAILED && !reported) Note(Sentence("is damaged, so members may be missing"));
      if (!HasContent()) continue;
      const char* stored = StoredName();
      *name = stored == nullptr ? "(without a name)" : std::string(stored, strnlen(stored, kLongestMemberName));
      if (archive_entry_is_data_encrypted(entry_) != 0) member_problem_ = "encrypted; not read";
      return true;
    }
  }
  return false;
}

std::size_t ArchiveReader::Read(char* buffer, std::size_t capacity) {
  while (piece_.empty() && capacity > 0) {
    if (ended_ || !member_problem_.empty()) return 0;
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(archive_, &bytes, &size, &offset);
    if (result == ARCHIVE_EOF) return 0;
    if (result == ARCHIVE_RETRY) continue;
    if (result != ARCHIVE_OK) member_problem_ = CannotUnpack();
    ended_ = result == ARCHIVE_FATAL;
    if (result < ARCHIVE_WARN) return 0;
    // ARCHIVE_WARN reports a wrong size or checksum; the last piece is still read.
    piece_ = {static_cast<const char*>(bytes), size};
    const bool is_after_hole = size > 0 && std::cmp_greater(offset, at_);
    if (size > 0) at_ = static_cast<std::uint64_t>(offset) + size;
    if (!is_after_hole) continue;
    *buffer = '\0';
    return 1;
  }
  const std::size_t count = piece_.copy(buffer, capacity);
  piece_.remove_prefix(count);
  return count;
}

}  // namespace

void UseUtf8Names() {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 != nullptr) uselocale(utf8);
}

std::unique_ptr<Unpacker> OpenUnpacker(ByteSource& source, Packing packing, std::size_t memory) {
  if (IsArchive(packing)) return std::make_unique<ArchiveReader>(source, packing, memory);
  return OpenStream(source, packing, memory);
}

std::string NeedsMore(Packing packing, std::size_t memory) {
  return fmt::format("unpacking its {} data further needs more than {}; the rest was not read", NameOf(packing),
                     WholeSize(memory));
}

}  // namespace whyoom
