// What a batch has done so far (--resume): an SQLite file of the inputs that were read to their end, each with what was
// found in it. A batch that is started again, however it ended, takes from there what has not changed and reads the
// rest; the report is the same, byte for byte.
//
// An input is the same where its path, size and modification time are, and it was read with the same settings: program,
// rule data, folder of a relative path. Never kept, so that they are read each time: standard input and pipes; what an
// interrupt cut short; what the system did not let be read whole (another time it may). An input that is damaged,
// packed or over a limit is kept with its problems: it would come to the same.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/file_stamp.h"
#include "cli/state_files.h"
#include "diagnose/read_input.h"
#include "input/artifact.h"
#include "rules/rule_source.h"

struct sqlite3;

namespace whyoom {

class ResumeState {
 public:
  // Opens the file, or makes it where there is none or an empty one; borrows the rules. `settings` names all options
  // that readings depend on. Throws Error where it is no such file, is damaged, another process uses it, or it or its
  // journal is not this user's own file alone (state_files.h); it is left as it was then.
  ResumeState(const std::string& path, const RuleSource& rules, const std::string& settings);
  ~ResumeState();  // writes what was recorded
  ResumeState(const ResumeState&) = delete;
  ResumeState& operator=(const ResumeState&) = delete;

  // What reading the input came to; nullopt where it has to be read. `stamp` is what the file is now. Threads may call
  // this and Record at once. Throws Error where the state turns out to be damaged.
  std::optional<Readings> Recall(const Artifact& input, const FileStamp& stamp);

  // Takes note of an input that was read to its end; written within a fifth of a second or so. `stamp` is from before
  // it was read: what changed since is then read again.
  void Record(const Artifact& input, const FileStamp& stamp, const Readings& readings);

  // Whether this is a file of the state itself, which is no log.
  bool IsOwn(const FileStamp& stamp) const;

  // Writes what was recorded. Why something could not be written, which is then read again another time; nullopt where
  // all is well. Call once, at the end.
  std::optional<Problem> Close();

 private:
  struct Row;
  class Statement;
  void Open();
  void Execute(const char* sql);
  std::int64_t Ask(const char* sql);
  bool HasOnlyItsTables();
  std::int64_t SettingsId(const std::string& name);
  // Throws Error where `code` of SQLite is no success, in words that say what to do.
  void Check(int code) const;
  std::optional<Row> Find(const std::string& path);
  void Keep(const Row& row);
  std::int64_t SettingsOf(const std::string& path) const { return path.starts_with('/') ? absolute_ : relative_; }
  void Write(int code);
  void Commit();
  void CommitNowAndThen();

  const std::string path_;
  const RuleSource& rules_;
  std::int64_t absolute_ = 0;  // settings of inputs with an absolute path
  std::int64_t relative_ = 0;  // and of others: with the folder that they are relative to
  std::array<FileStamp, 2> own_;
  StateFiles files_;

  std::mutex mutex_;  // of all below
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection_;
  std::unique_ptr<Statement> find_;
  std::unique_ptr<Statement> keep_;
  bool in_transaction_ = false;
  bool closed_ = false;
  std::string failure_;  // why nothing more is written
  std::condition_variable wake_;
  std::thread committer_;
};

}  // namespace whyoom
