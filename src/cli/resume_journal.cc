#include "cli/resume_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/file_writer.h"
#include "facts/array.h"
#include "input/error.h"
#include "report/record/describe.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::string_view kHeader = "{\"schema\":\"whyoom.journal/2\"}\n";
constexpr std::size_t kBlock = 1 << 20;
constexpr std::size_t kLongestLine = 64 << 20;  // a thousand failures need about ten million bytes

// A line without its failures.
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
  NeedAll(v, "path", entry.path, "size", entry.size, "modified", entry.modified, "settings", entry.settings,
          "artifacts", entry.artifacts, "bytes", entry.bytes);
  MaybeAll(v, "unknown_times", entry.unknown_times, "problems", entry.problems);
}

// A failure that is read back may still become a diagnosis. That needs the layouts of tuples, which reports omit.
template <class V>
void DescribeEntry(V& v, RecordOf<Failure> auto& failure, bool& concluded, const std::string& rules) {
  std::vector<std::string> shapes;
  if constexpr (!V::kReads) {
    for (const Allocation& row : failure.allocations) shapes.push_back(row.shape_text);
  }
  v.Part("diagnosis", [&](auto& part) {
    part.Extend(failure);
    part.Part("merge", [&](auto& merge) { DescribeMerge(merge, failure, rules); });
  });
  NeedAll(v, "shapes", shapes, "concluded", concluded);
  if constexpr (V::kReads) {
    if (shapes.size() != failure.allocations.size()) return v.SetFaulty();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      failure.allocations[i].shape_text = shapes[i];
      failure.allocations[i].array = ParseArrayShape(shapes[i]);
    }
  }
}

// The fields of a table other than its failures and programs.
struct TableRecord {
  std::string rules;
  std::map<std::string, std::uint64_t> reports_left_out;  // by code
  std::uint64_t programs_left_out = 0;
};

void Describe(auto& v, RecordOf<TableRecord> auto& record) {
  NeedAll(v, "rules", record.rules, "reports_left_out", record.reports_left_out, "programs_left_out",
          record.programs_left_out);
}

std::string CurrentFolder() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

}  // namespace

Json ToRecord(const FailureTable& table, const std::string& rules_fingerprint) {
  Json json = ToRecord(TableRecord{rules_fingerprint, table.left_out(), table.programs().left_out()});
  json["findings"] = Json::array();
  for (const Failure* failure : table.entries()) {
    bool concluded = failure->is_concluded();
    RecordWriter kept;
    DescribeEntry(kept, *failure, concluded, rules_fingerprint);
    json["findings"].push_back(kept.Take());
  }
  json["programs"] = Json::array();
  for (const CompiledProgram& program : table.programs().programs()) json["programs"].push_back(ToRecord(program));
  return json;
}

std::optional<FailureTable> TableFromRecord(const nlohmann::json& json, const RuleSet& rules) {
  const std::optional<TableRecord> record = FromRecord<TableRecord>(json);
  if (!record || record->rules != rules.fingerprint) return std::nullopt;
  const nlohmann::json failures = json.value("findings", nlohmann::json());
  const nlohmann::json programs = json.value("programs", nlohmann::json());
  if (!failures.is_array() || !programs.is_array()) return std::nullopt;
  FailureTable table(rules);
  for (const nlohmann::json& element : failures) {
    RecordReader kept(element, &rules);
    Failure failure;
    bool concluded = false;
    DescribeEntry(kept, failure, concluded, "");
    if (kept.faulty()) return std::nullopt;
    if (concluded) failure.rules = &rules;
    table.Add(std::move(failure));
  }
  for (const nlohmann::json& element : programs) {
    std::optional<CompiledProgram> program = FromRecord<CompiledProgram>(element);
    if (!program) return std::nullopt;
    table.programs().Add(*std::move(program));
  }
  table.programs().LeaveOut(record->programs_left_out);
  for (const auto& [code, reports] : record->reports_left_out) table.LeaveOut(code, reports);
  return table;
}

ResumeJournal::ResumeJournal(const std::string& path, const RuleSource& rules, const std::string& settings)
    : path_(path),
      rules_(rules),
      absolute_(Sha256Hex(settings)),
      relative_(Sha256Hex(settings + "\n" + CurrentFolder())) {
  Open();
  const std::string begin = ReadAt(0, kHeader.size());
  if (kHeader.starts_with(begin)) {  // empty, or a crash cut the header off
    if (begin.size() < kHeader.size()) Append(kHeader);
  } else {
    Refuse("is not a journal of this version of whyoom; give the name of another file");
  }
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

// Finds the last line of each path. Removes the last line of the file if a crash or a full disk truncated it.
void ResumeJournal::ReadIndex() {
  end_ = kHeader.size();
  std::string text;  // from end_ on
  for (std::string block; !(block = ReadAt(end_ + text.size(), kBlock)).empty();) {
    text += block;
    std::size_t at = 0;
    for (std::size_t feed; (feed = text.find('\n', at)) != std::string::npos; at = feed + 1) {
      const auto line = std::string_view(text).substr(at, feed - at);
      const std::optional<Entry> entry = FromRecord<Entry>(nlohmann::json::parse(line, nullptr, false));
      if (entry) index_[entry->path] = {end_ + at, line.size()};
      damaged_lines_ += entry ? 0 : 1;
    }
    text.erase(0, at);
    end_ += at;
    if (text.size() > kLongestLine) Refuse("has a line of more than 64 MiB; remove the file to read all inputs again");
  }
  if (!text.empty() && ftruncate(file_.get(), static_cast<off_t>(end_)) != 0) failure_ = std::strerror(errno);
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

// Writes a line at the end, over what a failed write left there.
void ResumeJournal::Append(std::string_view line) {
  const bool moved = lseek(file_.get(), static_cast<off_t>(end_), SEEK_SET) >= 0;
  const int problem = moved ? WriteAll(file_.get(), line) : errno;
  if (problem == 0) {
    end_ += line.size();
    return;
  }
  failure_ = std::strerror(problem);
  [[maybe_unused]] const int ignored = ftruncate(file_.get(), static_cast<off_t>(end_));
}

std::optional<Report> ResumeJournal::Recall(const Artifact& input, const FileStamp& stamp) const {
  const auto found = index_.find(input.path);
  if (!stamp.regular || found == index_.end()) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(ReadAt(found->second.offset, found->second.size), nullptr, false);
  std::optional<Entry> entry = FromRecord<Entry>(json);
  if (!entry || entry->size != stamp.size || entry->modified != stamp.modified ||
      entry->settings != SettingsOf(input.path))
    return std::nullopt;
  Report report;
  report.artifacts = entry->artifacts;
  report.bytes = entry->bytes;
  report.unknown_times = entry->unknown_times;
  report.problems = std::move(entry->problems);
  if (const auto table = json.find("table"); table != json.end()) {
    report.table = TableFromRecord(*table, rules_.rules());
    if (!report.table) return std::nullopt;
  }
  return report;
}

void ResumeJournal::Record(const Artifact& input, const FileStamp& stamp, const Report& report) {
  const bool is_text = Printable(input.path) == input.path;
  if (!stamp.regular || !is_text || report.retry || report.problems_left_out > 0) return;
  Json json = ToRecord(Entry{.path = input.path,
                             .size = stamp.size,
                             .modified = stamp.modified,
                             .settings = SettingsOf(input.path),
                             .artifacts = report.artifacts,
                             .bytes = report.bytes,
                             .unknown_times = report.unknown_times,
                             .problems = report.problems});
  if (report.table) json["table"] = ToRecord(*report.table, rules_.head().fingerprint);
  const std::string line = LineOf(json) + "\n";
  if (line.size() > kLongestLine) return;
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) Append(line);
}

std::optional<Problem> ResumeJournal::Close() {
  const std::lock_guard lock(mutex_);
  if (fsync(file_.get()) != 0 && failure_.empty()) failure_ = std::strerror(errno);
  if (failure_.empty()) return std::nullopt;
  return Problem{path_, "",
                 fmt::format("cannot write the journal ({}); the next run reads the missing inputs again", failure_)};
}

}  // namespace whyoom
