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
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/output.h"
#include "facts/array.h"
#include "input/error.h"
#include "report/record/describe.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::string_view kHeader = "{\"schema\":\"whyoom.journal/2\"}";
constexpr std::size_t kLongestRecord = 64 << 20;  // a thousand failures need about ten million bytes

// A line without its failures.
struct Entry {
  std::string path;
  std::uint64_t size = 0;
  std::int64_t modified = 0;
  std::string settings;
  std::uint64_t artifacts = 0;
  std::uint64_t bytes = 0;
  std::vector<Problem> problems;
};

void Describe(auto& v, RecordOf<Entry> auto& entry) {
  NeedAll(v, "path", entry.path, "size", entry.size, "modified", entry.modified, "settings", entry.settings,
          "artifacts", entry.artifacts, "bytes", entry.bytes);
  MaybeAll(v, "problems", entry.problems);
}

struct StoredFailure {
  Failure failure;
  std::string rules;  // fingerprint
};

// A failure that is read back may still become a diagnosis. That needs the layouts of tuples, which reports omit.
template <class V>
void Describe(V& v, RecordOf<StoredFailure> auto& stored) {
  auto& rows = stored.failure.allocations;
  std::vector<std::string> shapes;
  if constexpr (!V::kReads) {
    for (const Allocation& row : rows) shapes.push_back(row.shape_text);
  }
  v.Part("diagnosis", [&](auto& part) { DescribeDiagnosis(part, stored.failure, stored.rules); });
  v.Need("shapes", shapes);
  if constexpr (V::kReads) {
    if (shapes.size() != rows.size()) return v.SetFaulty();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      rows[i].shape_text = shapes[i];
      rows[i].array = ParseArrayShape(shapes[i]);
    }
  }
}

struct StoredTable {
  std::string rules;                                      // fingerprint
  std::map<std::string, std::uint64_t> reports_left_out;  // by code
  std::uint64_t programs_left_out = 0;
  std::vector<StoredFailure> findings;
  std::vector<CompiledProgram> programs;
};

void Describe(auto& v, RecordOf<StoredTable> auto& table) {
  NeedAll(v, "rules", table.rules, "reports_left_out", table.reports_left_out, "programs_left_out",
          table.programs_left_out, "findings", table.findings, "programs", table.programs);
}

// With the current folder, in which a relative path means another file.
std::string DigestOf(const std::string& settings) {
  std::error_code error;
  return Sha256Hex(settings + "\n" + std::filesystem::current_path(error).string());
}

}  // namespace

Json ToRecord(const FailureTable& table, const std::string& rules_fingerprint) {
  StoredTable stored{rules_fingerprint, table.left_out(), table.programs().left_out(), {}, table.programs().programs()};
  for (const Failure* failure : table.entries()) stored.findings.push_back({*failure, rules_fingerprint});
  return ToRecord(stored);
}

std::optional<FailureTable> TableFromRecord(const nlohmann::json& json, const RuleSet& rules) {
  std::optional<StoredTable> stored = FromRecord<StoredTable>(json, &rules);
  if (!stored || stored->rules != rules.fingerprint) return std::nullopt;
  FailureTable table(rules);
  for (StoredFailure& finding : stored->findings) table.Add(std::move(finding.failure));
  for (CompiledProgram& program : stored->programs) table.programs().Add(std::move(program));
  table.programs().LeaveOut(stored->programs_left_out);
  for (const auto& [code, reports] : stored->reports_left_out) table.LeaveOut(code, reports);
  return table;
}

FileStamp StampOf(const std::string& path) {
  std::error_code error;
  if (path == "-" || !std::filesystem::is_regular_file(path, error)) return {};
  return {.regular = true,
          .size = std::filesystem::file_size(path, error),
          .modified = std::filesystem::last_write_time(path, error).time_since_epoch().count()};
}

ResumeJournal::ResumeJournal(const std::string& path, const RuleSource& rules, const std::string& settings)
    : path_(path), rules_(rules), settings_(DigestOf(settings)) {
  Open();
  ReadIndex();
  if (!failure_.empty()) Refuse(fmt::format("cannot be written: {}", failure_));
}

void ResumeJournal::Refuse(const std::string& why) const {
  throw Error(fmt::format("--resume: '{}' {}", Printable(path_), why));
}

// Checks the open file, not its name, because the name may be replaced in between. O_NONBLOCK: does not wait for the
// other end of a FIFO.
void ResumeJournal::Open() {
  constexpr int kHow = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file_ = Descriptor(open(path_.c_str(), kHow, 0644));
  struct stat status {};
  if (!file_.is_open() || fstat(file_.get(), &status) != 0)
    Refuse(fmt::format("cannot be opened: {}", std::strerror(errno)));
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_nlink > 1)
    Refuse("is not a regular file of your own with one name; give the name of another file");
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
    Refuse(fmt::format("cannot be locked ({}); give each process its own journal", std::strerror(errno)));
}

// Finds the last line of each path. Ends the last line of the file if a crash or a full disk truncated it.
void ResumeJournal::ReadIndex() {
  const std::unique_ptr<ByteSource> source = OpenDescriptor(Descriptor(dup(file_.get())));
  TextLines lines(*source, kLongestRecord);
  std::uint64_t offset = 0;
  for (std::string_view line; lines.Next(&line); offset += line.size() + 1) {
    if (offset == 0 && line != kHeader) Refuse("is not a journal of this version of whyoom; give another file");
    const std::optional<Entry> entry = FromRecord<Entry>(nlohmann::json::parse(line, nullptr, false));
    if (entry) index_[entry->path] = {offset, line.size()};
  }
  if (!source->problem().empty()) Refuse(std::string(source->problem()));
  if (offset == 0) Append(std::string(kHeader) + "\n");
  if (offset > StampOf(path_).size) Append("\n");
}

void ResumeJournal::Append(std::string_view line) {
  if (const int problem = WriteAll(file_.get(), line)) failure_ = std::strerror(problem);
}

bool ResumeJournal::IsJournal(const std::string& path) const {
  std::error_code error;
  return std::filesystem::equivalent(path, path_, error);
}

std::optional<Report> ResumeJournal::Recall(const Artifact& input, const FileStamp& stamp) const {
  const auto found = index_.find(input.path);
  if (!stamp.regular || found == index_.end()) return std::nullopt;
  std::string line(found->second.size, '\0');
  const ssize_t count = pread(file_.get(), line.data(), line.size(), static_cast<off_t>(found->second.offset));
  line.resize(count < 0 ? 0 : static_cast<std::size_t>(count));  // a line that was not read is no record
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  std::optional<Entry> entry = FromRecord<Entry>(json);
  if (!entry || entry->size != stamp.size || entry->modified != stamp.modified || entry->settings != settings_)
    return std::nullopt;
  Report report;
  report.artifacts = entry->artifacts;
  report.bytes = entry->bytes;
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
                             .settings = settings_,
                             .artifacts = report.artifacts,
                             .bytes = report.bytes,
                             .problems = report.problems});
  if (report.table) json["table"] = ToRecord(*report.table, rules_.head().fingerprint);
  const std::string line = LineOf(json) + "\n";
  if (line.size() > kLongestRecord) return;
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
