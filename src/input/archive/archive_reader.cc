#include "input/archive/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "input/limits.h"

namespace whyoom {
namespace {

constexpr std::size_t kArchiveBlock = std::size_t{1} << 17;
constexpr int kMostRestarts = 10'000;  // each costs some microseconds

int Enable(archive* reader, Packing packing) {
  switch (packing) {
    case Packing::kTar:
      // Also reads the output of `cat a.tar b.tar`.
      archive_read_support_format_tar(reader);
      return archive_read_set_format_option(reader, "tar", "read_concatenated_archives", "1");
    case Packing::kZip:
      // Reads the members in order, without the list at the end: a pipe works like a file, a truncated archive is read
      // up to the cut, and overlapping members are read once.
      return archive_read_support_format_zip_streamable(reader);
    case Packing::kCpio:
      return archive_read_support_format_cpio(reader);
    default:
      return archive_read_support_format_ar(reader);
  }
}

// Returns null if there is no name. In the C locale, libarchive returns a name stored as Unicode only as UTF-8.
const char* StoredName(archive_entry* entry) {
  errno = 0;  // libarchive exits if errno is ENOMEM, even if another call set it
  const char* name = archive_entry_pathname_utf8(entry);
  return name == nullptr ? archive_entry_pathname(entry) : name;
}

// In a zip, lzma, xz and ppmd allocate as much memory as the archive asks for, and libarchive sets no limit.
bool HasUnlimitedMemory(archive* reader, Packing packing) {
  const char* format = archive_format_name(reader);  // "ZIP 2.0 (deflation)"
  if (packing != Packing::kZip || format == nullptr) return false;
  for (const char* method : {"lzma", "xz", "ppmd"})
    if (std::strstr(format, method) != nullptr) return true;
  return false;
}

// A little-endian number of `size` bytes.
std::uint64_t NumberAt(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  while (size-- > 0) number = number << 8 | static_cast<unsigned char>(bytes[at + size]);
  return number;
}

}  // namespace

std::string NeedsMore(Packing packing, std::size_t memory) {
  return fmt::format("unpacking its {} data further needs more than {} (--max-memory); the rest was not read",
                     NameOf(packing), WholeSize(memory));
}

ArchiveReader::ArchiveReader(ByteSource& source, Packing packing, std::size_t memory)
    : source_(source),
      packing_(packing),
      memory_(memory),
      entry_(archive_entry_new()),
      buffer_(std::make_unique_for_overwrite<char[]>(kArchiveBlock)),
      check_end_(packing == Packing::kZip) {
  if (entry_ == nullptr) throw std::bad_alloc();
  UseUtf8Names();
  Open();
}

void ArchiveReader::UseUtf8Names() {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 != nullptr) uselocale(utf8);
}

ArchiveReader::~ArchiveReader() {
  archive_entry_free(entry_);
  archive_read_free(archive_);
}

void ArchiveReader::Open() {
  archive_read_free(archive_);
  archive_ = archive_read_new();
  if (archive_ == nullptr) throw std::bad_alloc();
  fed_ = 0;
  Enable(archive_, packing_);
  archive_read_set_callback_data(archive_, this);
  archive_read_set_read_callback(archive_, &ArchiveReader::Feed);
  ended_ = archive_read_open1(archive_) != ARCHIVE_OK;
  if (ended_) Note(CannotUnpack());
}

// The callback with which libarchive reads.
ssize_t ArchiveReader::Feed(archive*, void* self, const void** bytes) {
  auto& reader = *static_cast<ArchiveReader*>(self);
  if (reader.fed_ - reader.Consumed() > reader.memory_) {
    reader.Note(NeedsMore(reader.packing_, reader.memory_));
    return ARCHIVE_FATAL;
  }
  try {
    if (!std::exchange(reader.refeed_, false)) {
      reader.begin_ = 0;
      reader.Fill(0);
    }
  } catch (...) {
    reader.failure_ = std::current_exception();  // exceptions must not cross libarchive, which is C code
    return ARCHIVE_FATAL;
  }
  const std::string_view given = reader.Last(reader.held_ - reader.begin_);
  reader.fed_ += given.size();
  *bytes = given.data();
  return static_cast<ssize_t>(given.size());
}

// Keeps the last `keep` bytes of the buffer and reads more after them. Returns how many bytes were read.
std::size_t ArchiveReader::Fill(std::size_t keep) {
  std::memmove(buffer_.get(), Last(keep).data(), keep);
  const std::size_t got = source_.Read(buffer_.get() + keep, kArchiveBlock - keep);
  if (got == 0) input_ended_ = true;
  held_ = keep + got;
  const std::size_t last = Last(got).find_last_not_of('\0');
  zeros_ = last == std::string_view::npos ? zeros_ + got : got - 1 - last;
  return got;
}

// The number of bytes passed to libarchive that it has consumed.
std::uint64_t ArchiveReader::Consumed() const {
  return std::min(fed_, static_cast<std::uint64_t>(std::max<la_int64_t>(archive_filter_bytes(archive_, -1), 0)));
}

std::size_t ArchiveReader::Unused() const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(held_, fed_ - Consumed()));
}

// Restarts libarchive at the next header after damage.
bool ArchiveReader::FindNextInZip() {
  constexpr std::string_view kMember = "PK\x03\x04";
  check_end_ = false;
  if (++restarts_ > kMostRestarts) {
    Note("its zip data is damaged in too many places; the rest was not read");
    return false;
  }
  std::size_t rest = Unused();
  if (rest > 0 && archive_filter_bytes(archive_, -1) <= 0) --rest;  // otherwise it would find the same header again
  while (true) {
    const std::size_t found = Last(rest).find(kMember);
    if (found != std::string_view::npos) {
      begin_ = held_ - rest + found;
      refeed_ = true;
      Open();
      return !ended_;
    }
    if (Fill(std::min(rest, kMember.size() - 1)) == 0) return false;
    rest = held_;
  }
}

// Keeps the first problem, which caused the others.
void ArchiveReader::Note(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

std::string ArchiveReader::CannotUnpack() const {
  if (archive_errno(archive_) == ENOMEM) return NeedsMore(packing_, memory_);
  return Sentence("cannot be unpacked further");
}

// For damage after which libarchive continues.
std::string ArchiveReader::Damage() const { return Sentence("is damaged, so members may be missing"); }

std::string ArchiveReader::Sentence(std::string_view what) const {
  const char* why = archive_error_string(archive_);
  return fmt::format("its {} data {}: {}", NameOf(packing_), what, why == nullptr ? "a header cannot be read" : why);
}

// Whether libarchive only warns that the locale cannot express a name.
bool ArchiveReader::IsOfName() const {
  const char* words = archive_error_string(archive_);
  return words != nullptr && std::string_view(words).find("be converted") != std::string_view::npos;
}

bool ArchiveReader::Next(ArchiveMember* member) {
  constexpr int kMostRetries = 16;
  const bool reported = !member_problem_.empty() || unreadable_;
  member_problem_.clear();
  piece_ = {};
  hole_ = 0;
  at_ = 0;
  left_out_ = 0;
  for (int retries = 0; !ended_ && retries < kMostRetries;) {
    errno = 0;  // as in StoredName
    const int result = broken_ ? ARCHIVE_FATAL : archive_read_next_header2(archive_, entry_);
    if (failure_) std::rethrow_exception(failure_);
    if (result == ARCHIVE_EOF) {
      // An error means that libarchive skipped something.
      if (!reported && archive_error_string(archive_) != nullptr && !IsOfName()) Note(Damage());
      ended_ = true;
      ended_well_ = !reported;
    } else if (result == ARCHIVE_FATAL || (result == ARCHIVE_FAILED && StoredName(entry_) == nullptr)) {
      if (!reported) Note(CannotUnpack());
      broken_ = false;
      ended_ = packing_ != Packing::kZip || !FindNextInZip();
    } else if (result == ARCHIVE_RETRY) {
      Note(Damage());
      ++retries;
    } else if (HasTooManyLinks()) {
      ended_ = true;
    } else {
      // A failure with a name means that the rest of the previous member is damaged.
      if (result == ARCHIVE_FAILED ? !reported : result != ARCHIVE_OK && !IsOfName()) Note(Damage());
      Describe(member);
      return true;
    }
  }
  ended_ = true;
  if (!std::exchange(end_read_, true)) ReadEnd();
  return false;
}

// libarchive compares each linked file with all previous ones, which takes quadratic time.
bool ArchiveReader::HasTooManyLinks() {
  constexpr int kMostLinked = 30'000;
  if (packing_ != Packing::kCpio || archive_entry_nlink(entry_) < 2 || ++linked_ <= kMostLinked) return false;
  Note(fmt::format("its cpio data has more than {} files with several names; the rest was not read", kMostLinked));
  return true;
}

void ArchiveReader::Describe(ArchiveMember* member) {
  ++found_;
  const char* name = StoredName(entry_);
  member->name = name == nullptr ? "(without a name)" : std::string(name, strnlen(name, kLongestMemberName));
  member->unreadable.clear();
  if (archive_entry_is_data_encrypted(entry_) != 0) {
    member->unreadable = "encrypted; not read";
  } else if (HasUnlimitedMemory(archive_, packing_)) {
    member->unreadable = "xz, lzma and ppmd inside a zip are not supported; not read";
  }
  unreadable_ = !member->unreadable.empty();
  if (unreadable_) check_end_ = false;  // its end is unknown
  member->has_content = HasContent();
}

// Besides regular files, other entries with a size may have content, such as the folders of `tar --listed-incremental`.
// A link has none, only the name of its target.
bool ArchiveReader::HasContent() {
  const auto type = archive_entry_filetype(entry_);
  if ((type == AE_IFREG || type == 0) && archive_entry_hardlink(entry_) == nullptr) return true;
  if (archive_entry_size(entry_) <= 0) return false;
  return unreadable_ || HasPiece() || !member_problem_.empty();
}

// Reads the next piece from libarchive unless piece_ is still unread. Returns false at the member's end.
bool ArchiveReader::HasPiece() {
  while (piece_.empty()) {
    if (ended_ || broken_ || !member_problem_.empty()) return false;
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(archive_, &bytes, &size, &offset);
    if (failure_) std::rethrow_exception(failure_);
    if (result == ARCHIVE_EOF) return false;
    if (result == ARCHIVE_RETRY) continue;
    if (result != ARCHIVE_OK) member_problem_ = CannotUnpack();
    broken_ = result == ARCHIVE_FATAL;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return false;
    if (size == 0) continue;  // a hole at the member's end, or nothing yet
    // ARCHIVE_WARN reports a wrong size or checksum; the last piece is still read.
    const auto begin = static_cast<std::uint64_t>(offset);
    if (offset < 0 || begin < at_) {
      member_problem_ = fmt::format("its {} data cannot be unpacked further: its pieces overlap", NameOf(packing_));
      return false;
    }
    hole_ = begin - at_;
    piece_ = {static_cast<const char*>(bytes), size};
    at_ = begin + size;
  }
  return true;
}

std::size_t ArchiveReader::Read(char* buffer, std::size_t capacity) {
  if (capacity == 0 || !HasPiece()) return 0;
  if (hole_ > 0) {
    left_out_ += std::exchange(hole_, 0) - 1;
    *buffer = '\0';
    return 1;
  }
  const std::size_t count = piece_.copy(buffer, capacity);
  piece_.remove_prefix(count);
  return count;
}

// Reads what follows the members, so that checksums at the end of an outer packing are checked too.
void ArchiveReader::ReadEnd() {
  constexpr std::size_t kEndMark = 512;
  std::string end;
  std::uint64_t size = fed_ - Unused();  // of the archive
  bool more = false;
  for (std::size_t rest = Unused(); rest > 0 || Fill(0) > 0; rest = 0) {
    const std::string_view bytes = Last(rest > 0 ? rest : held_);
    more = more || bytes.find_first_not_of('\0') != std::string_view::npos;  // zeros fill the last block of a tape
    size += bytes.size();
    end.append(bytes);
    if (end.size() > 2 * kArchiveBlock) end.erase(0, kArchiveBlock);
  }
  if (packing_ == Packing::kZip) {
    if (check_end_) Note(ZipEndProblem(end, size));
  } else if (more) {
    Note(fmt::format("other bytes follow its {} data and were not read", NameOf(packing_)));
  }
  if (packing_ == Packing::kTar && ended_well_ && zeros_ < kEndMark)
    Note("its tar data has no end mark, so members may be missing");
}

// libarchive skips a member with a damaged header without an error, and stops at anything that looks like the list of
// members at the end of a zip. So the end record must count as many members as were found, and the list must fill the
// space between the offset where libarchive stopped and the end record.
std::string ArchiveReader::ZipEndProblem(std::string_view end, std::uint64_t size) const {
  constexpr std::size_t kRecord = 22;
  constexpr std::uint64_t kLongestDescriptor = 24;   // the rest of one may precede the list
  constexpr std::uint64_t kLargestOthers = 56 + 20;  // zip64 records may follow the list
  const std::size_t at = end.size() < kRecord ? std::string_view::npos : end.rfind("PK\x05\x06", end.size() - kRecord);
  const std::uint64_t after = at == std::string_view::npos ? UINT64_MAX : at + kRecord + NumberAt(end, at + 20, 2);
  if (after > end.size())
    return "its zip data does not end with a complete list of its members, so some may be missing";
  if (end.find_first_not_of('\0', after) != std::string_view::npos)
    return "other bytes follow its zip data and were not read";
  // In a number that is too large for the record, all bits are set or the upper bits are missing.
  const std::uint64_t listed = NumberAt(end, at + 10, 2);
  const std::uint64_t length = NumberAt(end, at + 12, 4);
  const std::uint64_t place = NumberAt(end, at + 16, 4);
  const std::uint64_t record = size - (end.size() - at);
  if ((listed == UINT16_MAX || listed == (found_ & UINT16_MAX)) &&
      (place == UINT32_MAX ||
       (place - Consumed() <= kLongestDescriptor && record - (place + length) <= kLargestOthers)))
    return "";
  return "its zip data lists different members than it contains, so some may be missing";
}

}  // namespace whyoom
