#include "input/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <optional>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 17;

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
    case Packing::kAr:
      return archive_read_support_format_ar(reader);
    default:
      // Named, not guessed from the bytes: libarchive would go on unpacking what comes out.
      archive_read_append_filter(reader, packing == Packing::kBzip2 ? ARCHIVE_FILTER_BZIP2 : ARCHIVE_FILTER_LZ4);
      return archive_read_support_format_raw(reader);
  }
}

std::string NameOf(archive_entry* entry) {
  for (const char* name : {archive_entry_pathname_utf8(entry), archive_entry_pathname(entry)}) {
    if (name != nullptr) return name;
  }
  return "(a name that cannot be read)";
}

bool HasContent(archive_entry* entry) {
  const auto type = archive_entry_filetype(entry);
  if (type != AE_IFREG && type != 0) return false;
  return archive_entry_hardlink(entry) == nullptr || archive_entry_size(entry) > 0;
}

// xz and lzma inside a zip ask for as much memory as the archive says, and libarchive sets no limit.
bool HasUnlimitedMemory(archive* reader, Packing packing) {
  if (packing != Packing::kZip) return false;
  const char* format = archive_format_name(reader);
  const std::string_view method = format == nullptr ? "" : format;
  return method.find("lzma") != std::string_view::npos || method.find("xz") != std::string_view::npos;
}

class UnpackedSource : public ByteSource {
 public:
  UnpackedSource(std::unique_ptr<ByteSource> packed, Packing packing)
      : packed_(std::move(packed)), reader_(*packed_, packing) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    ArchiveMember only;
    if (capacity == 0 || ended_) return 0;
    if (!begun_ && !reader_.Next(&only)) return End();
    begun_ = true;
    const std::size_t got = reader_.Read(buffer, capacity);
    return got > 0 ? got : End();
  }

  std::string_view problem() const override {
    const std::string_view cause = packed_->problem();
    return cause.empty() ? std::string_view(problem_) : cause;
  }

 private:
  std::size_t End() {
    ended_ = true;
    problem_ = reader_.member_problem();
    if (problem_.empty()) reader_.Finish();
    if (problem_.empty()) problem_ = reader_.problem();
    return 0;
  }

  std::unique_ptr<ByteSource> packed_;
  ArchiveReader reader_;
  bool begun_ = false;
  bool ended_ = false;
  std::string problem_;
};

}  // namespace

struct ArchiveReader::Callbacks {
  static la_ssize_t Read(archive*, void* reader_pointer, const void** buffer) {
    auto& reader = *static_cast<ArchiveReader*>(reader_pointer);
    reader.held_ = reader.source_.Read(reader.block_.get(), kBlock);
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

ArchiveReader::ArchiveReader(ByteSource& source, Packing packing)
    : source_(source),
      packing_(packing),
      archive_(archive_read_new()),
      entry_(archive_entry_new()),
      block_(std::make_unique_for_overwrite<char[]>(kBlock)) {
  if (archive_ == nullptr || entry_ == nullptr) throw std::bad_alloc();
  Enable(archive_, packing);
  archive_read_set_callback_data(archive_, this);
  archive_read_set_read_callback(archive_, &Callbacks::Read);
  if (packing == Packing::kSevenZip) archive_read_set_seek_callback(archive_, &Callbacks::Seek);
  if (archive_read_open1(archive_) == ARCHIVE_OK) return;
  problem_ = Words();
  ended_ = true;
}

ArchiveReader::~ArchiveReader() {
  archive_entry_free(entry_);
  archive_read_free(archive_);
}

std::string ArchiveReader::Words() const {
  const char* words = archive_error_string(archive_);
  return fmt::format("its {} data cannot be unpacked further: {}", NameOf(packing_),
                     words == nullptr ? "it is damaged" : words);
}

bool ArchiveReader::Next(ArchiveMember* member) {
  constexpr int kMostRetries = 16;
  member_problem_.clear();
  for (int i = 0; !ended_ && i < kMostRetries; ++i) {
    const int result = archive_read_next_header2(archive_, entry_);
    if (result == ARCHIVE_EOF) {
      ended_ = true;
    } else if (result == ARCHIVE_FATAL || result == ARCHIVE_FAILED) {
      problem_ = Words();
      ended_ = true;
    } else if (result != ARCHIVE_RETRY) {
      // A warning is about the name or other things that do not matter here.
      member->name = NameOf(entry_);
      member->has_content = HasContent(entry_);
      member->unreadable.clear();
      if (archive_entry_is_data_encrypted(entry_) != 0) member->unreadable = "it is encrypted";
      if (HasUnlimitedMemory(archive_, packing_))
        member->unreadable = "it is packed with xz or lzma inside a zip, which is not read";
      return true;
    }
  }
  ended_ = true;
  return false;
}

std::size_t ArchiveReader::Read(char* buffer, std::size_t capacity) {
  if (ended_ || !member_problem_.empty()) return 0;
  const la_ssize_t got = archive_read_data(archive_, buffer, capacity);
  if (got >= 0) return static_cast<std::size_t>(got);
  member_problem_ = Words();
  if (got == ARCHIVE_FATAL) {
    problem_ = member_problem_;
    ended_ = true;
  }
  return 0;
}

void ArchiveReader::SeeBehind(std::string_view bytes) {
  // Zeros fill up the last block of a tape. A zip's list of members, and what a 7z has where, are not read in order.
  if (packing_ == Packing::kZip || packing_ == Packing::kSevenZip || !problem_.empty()) return;
  if (bytes.find_first_not_of('\0') != std::string_view::npos)
    problem_ = fmt::format("other bytes follow its {} data and were not read", NameOf(packing_));
}

void ArchiveReader::Finish() {
  const auto used = static_cast<std::uint64_t>(std::max<la_int64_t>(archive_filter_bytes(archive_, -1), 0));
  if (packing_ == Packing::kSevenZip) return;
  const std::size_t unused = static_cast<std::size_t>(std::min<std::uint64_t>(held_, fed_ - std::min(fed_, used)));
  SeeBehind({block_.get() + held_ - unused, unused});
  while (const std::size_t got = source_.Read(block_.get(), kBlock)) SeeBehind({block_.get(), got});
}

std::unique_ptr<ByteSource> UnpackByLibarchive(std::unique_ptr<ByteSource> packed, Packing packing) {
  return std::make_unique<UnpackedSource>(std::move(packed), packing);
}

}  // namespace whyoom
