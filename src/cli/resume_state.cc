#include "cli/resume_state.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "input/error.h"
#include "report/record/describe.h"
#include "report/record/table_record.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr int kApplicationId = 0x57684F4D;  // "WhOM", as `file` and sqlite3 show it
constexpr int kFormat = 1;                  // of the tables below
constexpr std::chrono::milliseconds kCommitEvery{200};
constexpr int kLongestRow = 64 << 20;  // bytes; a thousand failures take some ten million

constexpr const char* kTables =
    "CREATE TABLE settings (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL);"
    "CREATE TABLE inputs (path BLOB PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL,"
    "  settings INTEGER NOT NULL, artifacts INTEGER NOT NULL, bytes INTEGER NOT NULL, findings TEXT, problems TEXT,"
    "  digest TEXT NOT NULL, unknown_times INTEGER NOT NULL);";

// None is kept as nothing.
std::optional<std::string> PrintProblems(const std::vector<Problem>& problems) {
  if (problems.empty()) return std::nullopt;
  Json json = Json::array();
  for (const Problem& problem : problems) json.push_back(ToRecord(problem));
  return LineOf(json);
}

bool ReadProblems(std::string_view text, std::vector<Problem>* problems) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) return false;
  for (const nlohmann::json& element : json) {
    std::optional<Problem> problem = FromRecord<Problem>(element);
    if (!problem) return false;
    problems->push_back(*std::move(problem));
  }
  return true;
}

}  // namespace

// What is kept of one input.
struct ResumeState::Row {
  std::string path;
  FileStamp stamp;
  std::int64_t settings = 0;
  std::uint64_t artifacts = 0;
  std::uint64_t bytes = 0;
  std::optional<std::string> findings;  // see PrintTable
  std::optional<std::string> problems;
  std::uint64_t unknown_times = 0;

  // SQLite checks how its file hangs together, not what is in it; and a failure must not get lost by a wrong byte.
  std::string Digest() const {
    const auto part = [](const std::optional<std::string>& text) {
      return text ? fmt::format("{} {}", text->size(), *text) : "none";
    };
    return Sha256Hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", part(path), stamp.size, stamp.modified, settings,
                                 artifacts, bytes, part(findings), part(problems), unknown_times))
        .substr(0, 16);
  }
};

// One prepared statement; bound from 1 on, columns read from 0 on, as SQLite counts them.
class ResumeState::Statement {
 public:
  Statement(sqlite3* database, const char* sql) {
    if (sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) != SQLITE_OK) statement_ = nullptr;
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  bool prepared() const { return statement_ != nullptr; }

  // Texts are borrowed until Reset.
  void Bind(int at, std::int64_t number) { sqlite3_bind_int64(statement_, at, number); }
  void BindBytes(int at, std::string_view bytes) {
    sqlite3_bind_blob64(statement_, at, bytes.data(), bytes.size(), SQLITE_STATIC);
  }
  void BindText(int at, std::string_view text) {
    sqlite3_bind_text64(statement_, at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }

  int Step() { return statement_ == nullptr ? SQLITE_ERROR : sqlite3_step(statement_); }
  std::int64_t Number(int column) { return sqlite3_column_int64(statement_, column); }
  std::optional<std::string> Text(int column) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    if (text == nullptr) return std::nullopt;
    return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  void Reset() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

ResumeState::ResumeState(const std::string& path, const RuleSource& rules, const std::string& settings)
    : path_(path), rules_(rules), files_(path), connection_(nullptr, sqlite3_close_v2) {
  Open();
  std::error_code error;
  absolute_ = SettingsId(settings);
  relative_ = SettingsId(settings + "\n" + std::filesystem::current_path(error).string());
  sqlite3* database = connection_.get();
  find_ = std::make_unique<Statement>(database, "SELECT * FROM inputs WHERE path = ?");
  keep_ = std::make_unique<Statement>(database, "INSERT OR REPLACE INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!find_->prepared() || !keep_->prepared()) Check(SQLITE_CORRUPT);  // its tables have other columns
  Execute("COMMIT");
  own_ = {StampOf(path_), StampOf(path_ + "-journal")};
  committer_ = std::thread([this] { CommitNowAndThen(); });
}

ResumeState::~ResumeState() { Close(); }

void ResumeState::Execute(const char* sql) { Check(sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr)); }

void ResumeState::Check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  const std::string name = Printable(path_);
  if (!files_.why_refused().empty()) throw Error(fmt::format("--resume {}: {}", name, files_.why_refused()));
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CANTOPEN:  // it is to have a -wal, which whyoom has none of
      throw Error(fmt::format("--resume {}: it is no state of whyoom; give the name of another file", name));
    case SQLITE_CORRUPT:
      throw Error(fmt::format("--resume {}: it is damaged; remove it, and all is read again", name));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(fmt::format("--resume {}: another whyoom uses it; give each its own", name));
    default:
      throw Error(fmt::format("--resume {}: {}", name, Printable(sqlite3_errmsg(connection_.get()))));
  }
}

std::int64_t ResumeState::Ask(const char* sql) {
  Statement statement(connection_.get(), sql);
  const int code = statement.Step();
  if (code != SQLITE_ROW) Check(sqlite3_extended_errcode(connection_.get()));
  return code == SQLITE_ROW ? statement.Number(0) : 0;
}

// Nothing stands in the file but what kTables makes, and the indexes that come with these.
bool ResumeState::HasOnlyItsTables() {
  Statement made(
      connection_.get(),
      "SELECT group_concat(sql || ';', '') FROM (SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid)");
  return made.Step() == SQLITE_ROW && made.Text(0) == kTables;
}

// Ends inside the transaction in which all is made that a new file needs, so that it is never found half made.
void ResumeState::Open() {
  if (!files_.why_refused().empty()) Check(SQLITE_CANTOPEN);
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(StateFiles::kState, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, files_.vfs());
  connection_.reset(opened);  // also of what could not be opened, which says why
  Check(code);
  // What else somebody may have put into the file is not to be carried out, nor to take more than a row can.
  for (const auto& [setting, value] : {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1),
                                       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                       {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                       {SQLITE_DBCONFIG_ENABLE_VIEW, 0}})
    Check(sqlite3_db_config(opened, setting, value, nullptr));
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kLongestRow);
  // Who comes second is told at once. What the operating system was given survives the process, a full sync each time
  // also a loss of power.
  Execute("PRAGMA locking_mode = EXCLUSIVE");
  Execute("BEGIN EXCLUSIVE");
  Statement check(connection_.get(), "PRAGMA quick_check(1)");
  const bool checked = check.Step() == SQLITE_ROW;
  if (!checked) Check(sqlite3_extended_errcode(connection_.get()));
  if (!checked || check.Text(0) != "ok") Check(SQLITE_CORRUPT);
  const std::int64_t tables = Ask("SELECT count(*) FROM sqlite_master");
  const std::int64_t application = Ask("PRAGMA application_id");
  if (tables == 0 && application == 0) {
    Execute(kTables);
    Execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
    Execute(fmt::format("PRAGMA user_version = {}", kFormat).c_str());
  } else if (application != kApplicationId) {
    Check(SQLITE_NOTADB);
  } else if (!HasOnlyItsTables()) {
    Check(SQLITE_CORRUPT);
  } else if (const std::int64_t format = Ask("PRAGMA user_version"); format != kFormat) {
    throw Error(fmt::format("--resume {}: it was made by another version of whyoom (format {}, here {})",
                            Printable(path_), format, kFormat));
  }
}

std::int64_t ResumeState::SettingsId(const std::string& name) {
  Statement insert(connection_.get(), "INSERT OR IGNORE INTO settings (name) VALUES (?)");
  insert.BindText(1, name);
  Check(insert.Step());
  Statement select(connection_.get(), "SELECT id FROM settings WHERE name = ?");
  select.BindText(1, name);
  const int code = select.Step();
  if (code != SQLITE_ROW) Check(SQLITE_CORRUPT);
  return select.Number(0);
}

// nullopt also where the row is not as it was written.
std::optional<ResumeState::Row> ResumeState::Find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  find_->BindBytes(1, path);
  const int code = find_->Step();
  std::optional<Row> row;
  if (code == SQLITE_ROW) {
    row.emplace();
    row->path = path;
    row->stamp.size = static_cast<std::uint64_t>(find_->Number(1));
    row->stamp.modified = find_->Number(2);
    row->settings = find_->Number(3);
    row->artifacts = static_cast<std::uint64_t>(find_->Number(4));
    row->bytes = static_cast<std::uint64_t>(find_->Number(5));
    row->findings = find_->Text(6);
    row->problems = find_->Text(7);
    row->unknown_times = static_cast<std::uint64_t>(find_->Number(9));
    if (find_->Text(8) != row->Digest()) row.reset();
  }
  find_->Reset();
  Check(code);
  return row;
}

std::optional<Readings> ResumeState::Recall(const Artifact& input, const FileStamp& stamp) {
  if (!stamp.regular) return std::nullopt;
  const std::optional<Row> row = Find(input.path);
  if (!row || row->stamp.size != stamp.size || row->stamp.modified != stamp.modified ||
      row->settings != SettingsOf(input.path))
    return std::nullopt;
  Readings readings;
  readings.artifacts = row->artifacts;
  readings.bytes = row->bytes;
  readings.unknown_times = row->unknown_times;
  // What cannot be understood is read again.
  if (row->problems && !ReadProblems(*row->problems, &readings.problems)) return std::nullopt;
  if (row->findings) {
    readings.table = ReadTable(*row->findings, rules_.rules());
    if (!readings.table) return std::nullopt;
  }
  return readings;
}

void ResumeState::Record(const Artifact& input, const FileStamp& stamp, const Readings& readings) {
  if (!stamp.regular || readings.retry || readings.problems_left_out > 0) return;
  Row row{input.path,     stamp,        SettingsOf(input.path),           readings.artifacts,
          readings.bytes, std::nullopt, PrintProblems(readings.problems), readings.unknown_times};
  if (readings.table) row.findings = PrintTable(*readings.table, rules_.fingerprint());
  Keep(row);
}

void ResumeState::Keep(const Row& row) {
  const std::string digest = row.Digest();  // before others have to wait
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) return;
  if (!in_transaction_) Write(sqlite3_exec(connection_.get(), "BEGIN", nullptr, nullptr, nullptr));
  in_transaction_ = true;
  keep_->BindBytes(1, row.path);
  keep_->Bind(2, static_cast<std::int64_t>(row.stamp.size));
  keep_->Bind(3, row.stamp.modified);
  keep_->Bind(4, row.settings);
  keep_->Bind(5, static_cast<std::int64_t>(row.artifacts));
  keep_->Bind(6, static_cast<std::int64_t>(row.bytes));
  if (row.findings) keep_->BindText(7, *row.findings);
  if (row.problems) keep_->BindText(8, *row.problems);
  keep_->BindText(9, digest);
  keep_->Bind(10, static_cast<std::int64_t>(row.unknown_times));
  Write(keep_->Step());
  keep_->Reset();
}

// Takes note of a failure to write: the batch goes on without the state.
void ResumeState::Write(int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE || !failure_.empty()) return;
  failure_ = fmt::format("what is done cannot be kept ({}), and will be read again another time",
                         sqlite3_errmsg(connection_.get()));
}

void ResumeState::Commit() {
  if (!in_transaction_) return;
  in_transaction_ = false;
  Write(sqlite3_exec(connection_.get(), "COMMIT", nullptr, nullptr, nullptr));
}

void ResumeState::CommitNowAndThen() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kCommitEvery, [this] { return closed_; })) Commit();
}

bool ResumeState::IsOwn(const FileStamp& stamp) const {
  const auto is_same = [&](const FileStamp& own) {
    return own.regular && own.device == stamp.device && own.inode == stamp.inode;
  };
  return stamp.regular && std::any_of(own_.begin(), own_.end(), is_same);
}

std::optional<Problem> ResumeState::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    Commit();
  }
  wake_.notify_all();
  if (committer_.joinable()) committer_.join();
  if (failure_.empty()) return std::nullopt;
  return Problem{path_, "", failure_};
}

}  // namespace whyoom
