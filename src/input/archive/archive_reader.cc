#include "input/archive/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "input/quota.h"

namespace whyoom {
namespace {

constexpr std::size_t kArchiveBlock = std::size_t{1} << 17;
constexpr int kMostRestarts = 10'000;  // each costs some microseconds

int Enable(archive* reader, Packing packing) {
  switch (packing) {
    case Packing::kTar:
      // What `cat a.tar b.tar` makes is read whole.
      archive_read_support_format_tar(reader);
      return archive_read_set_format_option(reader, "tar", "read_concatenated_archives", "1");
    case Packing::kZip:
      // From its beginning, not by the list at its end: so a pipe is read like a file, a cut archive up to the cut, and
      // members that overlap count once.
      return archive_read_support_format_zip_streamable(reader);
    case Packing::kSevenZip:
      return archive_read_support_format_7zip(reader);
    case Packing::kCpio:
      return archive_read_support_format_cpio(reader);
    default:
      return archive_read_support_format_ar(reader);
  }
}

// libarchive drops names that the locale cannot write; in this one, whatever the user's is, it keeps them all. For the
// calling thread, while it lives.
class Utf8Names {
 public:
  Utf8Names() {
    if (Locale() != nullptr) before_ = uselocale(Locale());
  }
  ~Utf8Names() {
    if (before_ != nullptr) uselocale(before_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

  static locale_t Locale() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return utf8;
  }

 private:
  locale_t before_ = nullptr;
};

// Null where there is none. A name that is stored as Unicode has no other form in the C locale.
const char* StoredName(archive_entry* entry) {
  errno = 0;  // libarchive ends the process where it finds an ENOMEM there that something else left
  const char* name = archive_entry_pathname_utf8(entry);
  return name == nullptr ? archive_entry_pathname(entry) : name;
}

// These inside a zip ask for as much memory as the archive says, and libarchive sets no limit.
bool HasUnlimitedMemory(archive* reader, Packing packing) {
  constexpr std::array<std::string_view, 3> kMethods = {"lzma", "xz", "ppmd"};
  if (packing != Packing::kZip) return false;
  const char* format = archive_format_name(reader);
  const std::string_view method = format == nullptr ? "" : format;
  return std::any_of(kMethods.begin(), kMethods.end(),
                     [&](std::string_view one) { return method.find(one) != std::string_view::npos; });
}

}  // namespace

std::string NeedsMore(Packing packing, std::size_t memory) {
  return fmt::format("unpacking its {} data further needs more than {} (--max-memory); what follows was not read",
                     NameOf(packing), WholeSize(memory));
}

struct ArchiveReader::Callbacks {
  static la_ssize_t Read(archive*, void* reader_pointer, const void** buffer) {
    auto& reader = *static_cast<ArchiveReader*>(reader_pointer);
    if (reader.fed_ - reader.Consumed() > reader.memory_) {
      reader.Note(NeedsMore(reader.packing_, reader.memory_));
      return ARCHIVE_FATAL;
    }
    try {
      if (!std::exchange(reader.block_waits_, false)) reader.Fill(0);
    } catch (...) {
      reader.failure_ = std::current_exception();  // nothing may be thrown through C
      return ARCHIVE_FATAL;
    }
    if (reader.zip_list_) reader.zip_list_->See({reader.block_.get(), reader.held_});
    reader.fed_ += reader.held_;
    *buffer = reader.block_.get();
    return static_cast<la_ssize_t>(reader.held_);
  }

  static la_int64_t Seek(archive*, void* reader_pointer, la_int64_t offset, int whence) {
    auto& reader = *static_cast<ArchiveReader*>(reader_pointer);
    const std::optional<std::uint64_t> size = reader.source_.Size();
    if (!size) return ARCHIVE_FATAL;
    const auto end = static_cast<la_int64_t>(*size);
    const la_int64_t from = whence == SEEK_END ? end : whence == SEEK_CUR ? static_cast<la_int64_t>(reader.fed_) : 0;
    // Headers may point anywhere.
    if (offset < -from || offset > end - from) return ARCHIVE_FATAL;
    const la_int64_t target = from + offset;
    if (!reader.source_.SeekTo(static_cast<std::uint64_t>(target))) return ARCHIVE_FATAL;
    reader.fed_ = static_cast<std::uint64_t>(target);
    return target;
  }
};

ArchiveReader::ArchiveReader(ByteSource& source, Packing packing, std::size_t memory)
    : source_(source),
      packing_(packing),
      memory_(memory),
      entry_(archive_entry_new()),
      block_(std::make_unique_for_overwrite<char[]>(kArchiveBlock)) {
  if (entry_ == nullptr) throw std::bad_alloc();
  if (packing_ == Packing::kZip) zip_list_.emplace();
  Open();
}

void ArchiveReader::Prepare() { Utf8Names::Locale(); }

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
  archive_read_set_read_callback(archive_, &Callbacks::Read);
  if (packing_ == Packing::kSevenZip) archive_read_set_seek_callback(archive_, &Callbacks::Seek);
  ended_ = archive_read_open1(archive_) != ARCHIVE_OK;
  if (ended_) Note(Words());
}

// Keeps the last `keep` bytes of the block and reads behind them; gives how many were read.
std::size_t ArchiveReader::Fill(std::size_t keep) {
  std::memmove(block_.get(), block_.get() + held_ - keep, keep);
  const std::size_t got = source_.Read(block_.get() + keep, kArchiveBlock - keep);
  if (got == 0) input_ended_ = true;
  held_ = keep + got;
  const std::string_view bytes(block_.get() + keep, got);
  const std::size_t last = bytes.find_last_not_of('\0');
  zeros_ = last == std::string_view::npos ? zeros_ + got : got - 1 - last;
  return got;
}

// Of the bytes that libarchive was given, those it is done with.
std::uint64_t ArchiveReader::Consumed() const {
  return std::min(fed_, static_cast<std::uint64_t>(std::max<la_int64_t>(archive_filter_bytes(archive_, -1), 0)));
}

// What was read of the source and not by libarchive.
std::size_t ArchiveReader::Unused() const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(held_, fed_ - Consumed()));
}

// Goes to the next member that can be found behind damage, of which libarchive says no more than that it is there.
bool ArchiveReader::FindNextInZip() {
  constexpr std::string_view kMember = "PK\x03\x04";
  zip_list_.reset();
  if (++restarts_ > kMostRestarts) {
    Note("its zip data is damaged in too many places; what follows was not read");
    return false;
  }
  std::size_t keep = Unused();
  if (keep > 0 && archive_filter_bytes(archive_, -1) <= 0) --keep;  // or it would be found where it was
  while (true) {
    const std::string_view bytes(block_.get() + held_ - keep, keep);
    const std::size_t found = bytes.find(kMember);
    if (found != std::string_view::npos) {
      Fill(keep - found);
      block_waits_ = true;
      Open();
      return !ended_;
    }
    if (Fill(std::min(keep, kMember.size() - 1)) == 0) return false;
    keep = held_;
  }
}

void ArchiveReader::Note(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

std::string ArchiveReader::Words() const {
  if (archive_errno(archive_) == ENOMEM) return NeedsMore(packing_, memory_);
  const char* words = archive_error_string(archive_);
  return fmt::format("its {} data cannot be unpacked further: {}", NameOf(packing_),
                     words == nullptr ? "it is damaged" : words);
}

std::string ArchiveReader::Damage() const {
  const char* words = archive_error_string(archive_);
  return fmt::format("its {} data is damaged, so members may be missing: {}", NameOf(packing_),
                     words == nullptr ? "a header cannot be read" : words);
}

// Whether libarchive's warning is about a name that the locale cannot write, which does not matter here.
bool ArchiveReader::IsOfName() const {
  const char* words = archive_error_string(archive_);
  return words != nullptr && std::string_view(words).find("be converted") != std::string_view::npos;
}

bool ArchiveReader::Next(ArchiveMember* member) {
  const Utf8Names names;
  constexpr int kMostRetries = 16;
  const bool told = !member_problem_.empty() || unreadable_;
  member_problem_.clear();
  late_problem_.clear();
  first_ = {};
  piece_ = {};
  taken_ = {};
  at_ = 0;
  left_out_ = 0;
  for (int retries = 0; !ended_ && retries < kMostRetries;) {
    errno = 0;  // as in StoredName
    const int result = broken_ ? ARCHIVE_FATAL : archive_read_next_header2(archive_, entry_);
    if (failure_) std::rethrow_exception(failure_);
    if (result == ARCHIVE_EOF) {
      // What was passed over to get there.
      if (!told && archive_error_string(archive_) != nullptr && !IsOfName()) Note(Damage());
      ended_ = true;
      ended_well_ = !told;
    } else if (result == ARCHIVE_FATAL || (result == ARCHIVE_FAILED && StoredName(entry_) == nullptr)) {
      if (!told) Note(Words());
      broken_ = false;
      ended_ = packing_ != Packing::kZip || !FindNextInZip();
    } else if (result == ARCHIVE_RETRY) {
      Note(Damage());
      ++retries;
    } else if (HasTooManyLinks()) {
      ended_ = true;
    } else {
      // A failure with a name is about the rest of the member before.
      if (result == ARCHIVE_FAILED ? !told : result != ARCHIVE_OK && !IsOfName()) Note(Damage());
      if (zip_list_) zip_list_->AddMember(Consumed());
      Describe(member);
      return true;
    }
  }
  ended_ = true;
  return false;
}

// For each of these libarchive looks through all that came before.
bool ArchiveReader::HasTooManyLinks() {
  constexpr int kMostLinked = 30'000;
  if (packing_ != Packing::kCpio || archive_entry_nlink(entry_) < 2 || ++linked_ <= kMostLinked) return false;
  Note(fmt::format("its cpio data has more than {} files with several names; what follows was not read", kMostLinked));
  return true;
}

void ArchiveReader::Describe(ArchiveMember* member) {
  const char* name = StoredName(entry_);
  member->name = name == nullptr ? "(without a name)" : std::string(name, strnlen(name, kLongestMemberName));
  member->unreadable.clear();
  if (archive_entry_is_data_encrypted(entry_) != 0) {
    member->unreadable = "it is encrypted";
  } else if (HasUnlimitedMemory(archive_, packing_)) {
    member->unreadable = "it is packed with xz, lzma or ppmd inside a zip, which is not read";
  }
  unreadable_ = !member->unreadable.empty();
  if (unreadable_) zip_list_.reset();  // how far it goes cannot be told
  member->has_content = HasContent();
}

// What was a pipe when it was packed may have content by now (`7z a -si`), and so may anything that says it has some,
// as the folders of `tar --listed-incremental` do; a link has only the name of its target.
bool ArchiveReader::HasContent() {
  const auto type = archive_entry_filetype(entry_);
  if ((type == AE_IFREG || type == 0) && archive_entry_hardlink(entry_) == nullptr) return true;
  if (archive_entry_size(entry_) <= 0) return false;
  if (unreadable_) return true;
  first_ = Take();
  return !first_.empty() || !member_problem_.empty();
}

std::string_view ArchiveReader::Take() {
  if (!first_.empty()) return std::exchange(first_, {});
  while (piece_.empty()) {
    if (!late_problem_.empty()) member_problem_ = std::exchange(late_problem_, {});
    if (ended_ || broken_ || !member_problem_.empty()) return {};
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(archive_, &bytes, &size, &offset);
    if (failure_) std::rethrow_exception(failure_);
    if (result == ARCHIVE_EOF) return {};
    if (result == ARCHIVE_RETRY) continue;
    if (result == ARCHIVE_WARN && size > 0) {
      late_problem_ = Words();  // a wrong size or checksum, of which the last piece is told
    } else if (result != ARCHIVE_OK) {
      member_problem_ = Words();
      broken_ = result == ARCHIVE_FATAL;
      return {};
    }
    if (size == 0) continue;  // where a hole ends at the member's end, or there is nothing yet
    const auto begin = static_cast<std::uint64_t>(offset);
    if (offset < 0 || begin < at_) {
      member_problem_ = fmt::format("its {} data cannot be unpacked further: its pieces overlap", NameOf(packing_));
      return {};
    }
    piece_ = {static_cast<const char*>(bytes), size};
    const std::uint64_t hole = begin - at_;
    at_ = begin + size;
    if (hole > 0) {
      left_out_ += hole - 1;
      return {"", 1};
    }
  }
  return std::exchange(piece_, {});
}

std::size_t ArchiveReader::Read(char* buffer, std::size_t capacity) {
  if (taken_.empty()) taken_ = Take();
  const std::size_t count = std::min(capacity, taken_.size());
  if (count > 0) std::memcpy(buffer, taken_.data(), count);
  taken_.remove_prefix(count);
  return count;
}

void ArchiveReader::SeeBehind(std::string_view bytes) {
  if (packing_ == Packing::kZip) {  // whose list of members lies behind them
    if (zip_list_) zip_list_->SeeList(bytes);
    return;
  }
  // Zeros fill up the last block of a tape.
  if (bytes.find_first_not_of('\0') != std::string_view::npos)
    Note(fmt::format("other bytes follow its {} data and were not read", NameOf(packing_)));
}

void ArchiveReader::Finish() {
  if (packing_ == Packing::kSevenZip) return;  // not read in order
  constexpr std::size_t kEndMark = 512;
  const std::size_t unused = Unused();
  if (zip_list_) zip_list_->BeginList(Consumed());
  SeeBehind({block_.get() + held_ - unused, unused});
  while (Fill(0) > 0) SeeBehind({block_.get(), held_});
  if (zip_list_) {
    if (std::string disagreement = zip_list_->Disagreement(); !disagreement.empty()) Note(std::move(disagreement));
  }
  if (packing_ == Packing::kTar && ended_well_ && zeros_ < kEndMark)
    Note("its tar data has no end mark, so members may be missing");
}

}  // namespace whyoom
