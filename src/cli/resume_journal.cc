#include "cli/resume_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/file_writer.h"
#include "input/error.h"
#include "report/record/fields.h"
#include "report/record/table_record.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::string_view kAnyHeader = R"({"schema":"whyoom.journal/)";
constexpr std::string_view kHeader = R"({"schema":"whyoom.journal/1",)";
constexpr std::string_view kSqlite = "SQLite format 3";  // the state file of earlier versions
constexpr std::string_view kSum = R"({"sum":")";         // of everything after the checksum
constexpr std::string_view kKey = R"(","key":")";        // digest of the path
constexpr std::size_t kDigest = 16;
constexpr std::size_t kBlock = 1 << 20;
constexpr std::size_t kLongestLine = 64 << 20;  // a thousand failures need about ten million bytes
constexpr std::chrono::seconds kSyncEvery{1};

std::string Digest(std::string_view text) { return Sha256Hex(text).substr(0, kDigest); }

std::optional<std::uint64_t> KeyOf(std::string_view digest) {
  std::uint64_t key = 0;
  const auto [end, error] = std::from_chars(digest.data(), digest.data() + digest.size(), key, 16);
  if (error != std::errc() || end != digest.data() + digest.size()) return std::nullopt;
  return key;
}

// Returns nullopt if the line is damaged. `line` includes its line feed.
std::optional<std::uint64_t> KeyOfLine(std::string_view line) {
  constexpr std::size_t kSumEnd = kSum.size() + kDigest;
  if (!line.starts_with(kSum) || line.size() < kSumEnd + kKey.size() + kDigest) return std::nullopt;
  line.remove_suffix(1);
  if (line.substr(kSum.size(), kDigest) != Digest(line.substr(kSumEnd))) return std::nullopt;
  return KeyOf(line.substr(kSumEnd + kKey.size(), kDigest));
}

// A line without its checksum, key and findings.
struct Entry {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  std::string settings;
  std::uint64_t artifacts = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unknown_times = 0;
  std::vector<Problem> problems;
};

void Describe(auto& v, RecordOf<Entry> auto& entry) {
  v.NeedName("path", entry.path);
  v.Need("size", entry.size);
  v.Need("modified", entry.modified);
  v.Need("settings", entry.settings);
  v.Need("artifacts", entry.artifacts);
  v.Need("bytes", entry.bytes);
  v.Maybe("unknown_times", entry.unknown_times);
  v.Maybe("problems", entry.problems);
}

std::string PrintLine(const Entry& entry, const std::optional<FindingTable>& table, const std::string& rules) {
  Json json = ToRecord(entry);
  if (table) json["table"] = ToRecord(*table, rules);
  const std::string rest = fmt::format("{}{}\",{}", kKey, Digest(entry.path), LineOf(json).substr(1));
  return fmt::format("{}{}{}\n", kSum, Digest(rest), rest);
}

std::string CurrentFolder() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

}  // namespace

ResumeJournal::ResumeJournal(const std::string& path, const RuleSource& rules, const std::string& settings)
    : path_(path), rules_(rules), absolute_(Digest(settings)), relative_(Digest(settings + "\n" + CurrentFolder())) {
  Open();
  ReadHeader();
  ReadIndex();
  if (!failure_.empty()) Refuse(fmt::format("cannot be written: {}", failure_));
}

void ResumeJournal::Refuse(const std::string& why) const {
  throw Error(fmt::format("--resume: '{}' {}", Printable(path_), why));
}

// Checks the open file, not its name, because the name may be replaced in between. O_NONBLOCK: does not wait for the
// other end of a FIFO.
void ResumeJournal::Open() {
  constexpr int kHow = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file_ = Descriptor(open(path_.c_str(), kHow, 0644));
  if (!file_.is_open() && errno == ELOOP) Refuse("is a symbolic link; give the name of the file itself");
  struct stat status {};
  if (!file_.is_open() || fstat(file_.get(), &status) != 0)
    Refuse(fmt::format("cannot be opened: {}", std::strerror(errno)));
  if (!S_ISREG(status.st_mode)) Refuse("is not a regular file; give the name of another file");
  if (status.st_uid != geteuid())
    Refuse(fmt::format("belongs to user {}, who may have changed it; give a file of your own", status.st_uid));
  if (status.st_nlink > 1) Refuse("has a second name (hard link); give the name of another file");
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) Refuse("is used by another whyoom; give each process its own journal");
    Refuse(fmt::format("cannot be locked: {}", std::strerror(errno)));
  }
  own_ = StampOf(path_);
}

void ResumeJournal::ReadHeader() {
  const std::string header =
      fmt::format("{}\"version\":\"{}\",\"rules\":\"{}\"}}\n", kHeader, WHYOOM_VERSION, rules_.fingerprint());
  const std::string begin = ReadAt(0, header.size() + 4096);
  const std::size_t feed = begin.find('\n');
  if (header.starts_with(begin)) {  // empty, or the header was truncated by a crash
    Append(header);
  } else if (begin.starts_with(kHeader) && feed != std::string::npos) {
    end_ = feed + 1;
  } else if (begin.starts_with(kAnyHeader) && feed != std::string::npos) {
    Refuse("was written by another version of whyoom (expected whyoom.journal/1); give the name of another file");
  } else if (begin.starts_with(kSqlite)) {
    Refuse("is an SQLite file, as earlier versions of whyoom wrote; give the name of another file");
  } else {
    Refuse("is not a whyoom journal; give the name of another file");
  }
}

// Finds the last line of each path. Removes the last line of the file if a crash or a full disk truncated it.
void ResumeJournal::ReadIndex() {
  const std::uint64_t begin = end_;
  ForEachLine(begin, [this](Line place, std::string_view line) {
    end_ = place.offset + place.size;
    if (const std::optional<std::uint64_t> key = KeyOfLine(line)) {
      index_[*key] = place;
    } else {
      ++damaged_lines_;
    }
  });
  Truncate();
  std::uint64_t used = 0;
  for (const auto& [key, line] : index_) used += line.size;
  if (damaged_lines_ > 0 || end_ - begin > 2 * used) Compact(begin);
}

// Moves the lines of the index to the beginning, in place. If the process is killed meanwhile, at most the line being
// moved is damaged, and its input is read again.
void ResumeJournal::Compact(std::uint64_t begin) {
  end_ = begin;
  ForEachLine(begin, [this](Line place, std::string_view line) {
    const std::optional<std::uint64_t> key = KeyOfLine(line);
    const auto found = key ? index_.find(*key) : index_.end();
    if (found == index_.end() || found->second.offset != place.offset || !failure_.empty()) return;
    WriteAt(end_, line);
    found->second.offset = end_;
    end_ += place.size;
  });
  if (failure_.empty()) Truncate();
}

// Calls `use` for each complete line from `begin` on, including its line feed.
void ResumeJournal::ForEachLine(std::uint64_t begin, const std::function<void(Line, std::string_view)>& use) const {
  std::string text;  // starts at `begin`
  for (std::string block; !(block = ReadAt(begin + text.size(), kBlock)).empty();) {
    text += block;
    std::size_t at = 0;
    for (std::size_t feed; (feed = text.find('\n', at)) != std::string::npos; at = feed + 1)
      use({begin + at, feed + 1 - at}, std::string_view(text).substr(at, feed + 1 - at));
    text.erase(0, at);
    begin += at;
    if (text.size() > kLongestLine) Refuse("has a line of more than 64 MiB; remove the file to read all inputs again");
  }
}

// Returns fewer bytes at the end of the file.
std::string ResumeJournal::ReadAt(std::uint64_t offset, std::size_t size) const {
  std::string text(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count = pread(file_.get(), text.data() + filled, size - filled, static_cast<off_t>(offset + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

void ResumeJournal::WriteAt(std::uint64_t offset, std::string_view text) {
  const bool moved = lseek(file_.get(), static_cast<off_t>(offset), SEEK_SET) >= 0;
  if (const int problem = moved ? WriteAll(file_.get(), text) : errno; problem != 0) failure_ = std::strerror(problem);
}

void ResumeJournal::Truncate() {
  if (ftruncate(file_.get(), static_cast<off_t>(end_)) != 0 && failure_.empty()) failure_ = std::strerror(errno);
}

void ResumeJournal::Append(std::string_view line) {
  WriteAt(end_, line);
  if (failure_.empty()) {
    end_ += line.size();
  } else {
    Truncate();  // remove the incomplete line
  }
}

void ResumeJournal::Sync() {
  synced_ = std::chrono::steady_clock::now();
  if (fsync(file_.get()) != 0 && failure_.empty()) failure_ = std::strerror(errno);
}

std::optional<Readings> ResumeJournal::Recall(const Artifact& input, const FileStamp& stamp) const {
  const auto found = index_.find(*KeyOf(Digest(input.path)));
  if (!stamp.regular || found == index_.end()) return std::nullopt;
  const std::string line = ReadAt(found->second.offset, found->second.size);
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  std::optional<Entry> entry = FromRecord<Entry>(json);
  if (!entry || entry->path != input.path || entry->size != stamp.size || entry->modified != stamp.modified ||
      entry->settings != SettingsOf(input.path))
    return std::nullopt;
  Readings readings;
  readings.artifacts = entry->artifacts;
  readings.bytes = entry->bytes;
  readings.unknown_times = entry->unknown_times;
  readings.problems = std::move(entry->problems);
  if (const auto table = json.find("table"); table != json.end()) {
    readings.table = TableFromRecord(*table, rules_.rules());
    if (!readings.table) return std::nullopt;
  }
  return readings;
}

void ResumeJournal::Record(const Artifact& input, const FileStamp& stamp, const Readings& readings) {
  if (!stamp.regular || readings.retry || readings.problems_left_out > 0) return;
  const Entry entry = {.path = input.path,
                       .size = stamp.size,
                       .modified = stamp.modified,
                       .settings = SettingsOf(input.path),
                       .artifacts = readings.artifacts,
                       .bytes = readings.bytes,
                       .unknown_times = readings.unknown_times,
                       .problems = readings.problems};
  const std::string line = PrintLine(entry, readings.table, rules_.fingerprint());
  if (line.size() > kLongestLine) return;
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) return;
  Append(line);
  if (std::chrono::steady_clock::now() - synced_ >= kSyncEvery) Sync();
}

std::optional<Problem> ResumeJournal::Close() {
  const std::lock_guard lock(mutex_);
  Sync();
  if (failure_.empty()) return std::nullopt;
  return Problem{path_, "",
                 fmt::format("cannot write the journal ({}); the next run reads the missing inputs again", failure_)};
}

}  // namespace whyoom
