// Which files are accepted as a journal, and which of its lines are valid.
#include "cli/resume_journal.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "built_in_rules.h"
#include "catch.h"
#include "input/error.h"
#include "process.h"

using namespace whyoom;
namespace fs = std::filesystem;

namespace TEST_FILE {

constexpr uid_t kNobody = 65534;

FileStamp Stamp(std::uint64_t size) { return {.regular = true, .size = size, .modified = 7}; }

Report Read(std::uint64_t bytes) {
  Report report;
  report.bytes = bytes;
  return report;
}

struct Folder {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/journal";
  const RuleSource rules = RuleSource(BuiltInRules());

  // Records the paths, each with its index as its size.
  void Record(const std::vector<std::string>& paths, const std::string& settings = "settings") const {
    ResumeJournal journal(path, rules, settings);
    for (std::size_t i = 0; i < paths.size(); ++i) journal.Record({paths[i], ""}, Stamp(i), Read(i));
    CHECK_FALSE(journal.Close());
  }

  // Empty if the file is accepted.
  std::string Error() const {
    try {
      ResumeJournal(path, rules, "settings");
    } catch (const whyoom::Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_CASE("a journal returns findings only for the same stamp and settings", "[cli]") {
  const Folder folder;
  const std::string odd = "/b \xc3\xa9\"\\.log";
  const std::string no_text = "/c\n\xff";  // not recorded
  folder.Record({"/a", odd, "relative", no_text});
  const ResumeJournal journal(folder.path, folder.rules, "settings");
  CHECK(journal.Recall({odd, ""}, Stamp(1))->bytes == 1);
  CHECK(journal.Recall({"relative", ""}, Stamp(2))->bytes == 2);
  CHECK_FALSE(journal.Recall({"/b", ""}, Stamp(1)));
  CHECK_FALSE(journal.Recall({no_text, ""}, Stamp(3)));
  CHECK_FALSE(journal.Recall({odd, ""}, Stamp(2)));
  CHECK_FALSE(journal.Recall({odd, ""}, {.regular = true, .size = 1, .modified = 8}));
  CHECK_FALSE(journal.Recall({odd, ""}, {.regular = false, .size = 1, .modified = 7}));
}

TEST_CASE("a journal separates inputs by settings", "[cli]") {
  const Folder folder;
  folder.Record({"/a", "/b"}, "one");
  folder.Record({"/a"}, "two");
  {
    const ResumeJournal one(folder.path, folder.rules, "one");
    CHECK_FALSE(one.Recall({"/a", ""}, Stamp(0)));
    CHECK(one.Recall({"/b", ""}, Stamp(1)));
  }
  CHECK(ResumeJournal(folder.path, folder.rules, "two").Recall({"/a", ""}, Stamp(0)));
}

TEST_CASE("a journal truncated at any byte keeps its complete lines", "[cli]") {
  const Folder folder;
  folder.Record({"/a", "/b", "/c"});
  const std::string whole = ReadText(folder.path);
  for (std::size_t size = whole.find('\n'); size < whole.size(); ++size) {
    INFO(size);
    folder.scratch.Write("journal", whole.substr(0, size));
    // A line is complete even without its line break.
    const auto lines = std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size) + 1, '\n');
    {
      ResumeJournal journal(folder.path, folder.rules, "settings");
      CHECK(journal.Recall({"/a", ""}, Stamp(0)).has_value() == lines >= 2);
      CHECK(journal.Recall({"/b", ""}, Stamp(1)).has_value() == lines >= 3);
      CHECK(journal.Recall({"/c", ""}, Stamp(2)).has_value() == lines >= 4);
      journal.Record({"/d", ""}, Stamp(3), Read(3));
    }
    const ResumeJournal again(folder.path, folder.rules, "settings");
    CHECK(again.Recall({"/a", ""}, Stamp(0)).has_value() == lines >= 2);
    CHECK(again.Recall({"/d", ""}, Stamp(3)));
  }
}

TEST_CASE("a line that is no record is skipped, and the lines around it stay valid", "[cli]") {
  const Folder folder;
  folder.Record({"/a", "/b", "/c"});
  const std::string whole = ReadText(folder.path);
  const std::size_t begin = whole.find('\n', whole.find("/a")) + 1;
  const std::size_t end = whole.find('\n', begin);
  for (const std::string line : {"", "{", "{}", "[1]", "{\"path\":1}", "\xff\0"}) {
    INFO(line);
    folder.scratch.Write("journal", whole.substr(0, begin) + line + whole.substr(end));
    const ResumeJournal journal(folder.path, folder.rules, "settings");
    CHECK(journal.Recall({"/a", ""}, Stamp(0)));
    CHECK_FALSE(journal.Recall({"/b", ""}, Stamp(1)));
    CHECK(journal.Recall({"/c", ""}, Stamp(2)));
  }
}

TEST_CASE("the last line of an input counts", "[cli]") {
  const Folder folder;
  folder.Record({"/a", "/b", "/c"});
  folder.Record({"/a", "/c", "/b"});
  const ResumeJournal journal(folder.path, folder.rules, "settings");
  CHECK(journal.Recall({"/c", ""}, Stamp(1))->bytes == 1);
  CHECK(journal.Recall({"/b", ""}, Stamp(2))->bytes == 2);
  CHECK_FALSE(journal.Recall({"/c", ""}, Stamp(2)));
}

TEST_CASE("a file that is not a journal is rejected and not changed", "[cli]") {
  const Folder folder;
  folder.Record({"/a"});
  const std::string good = ReadText(folder.path);
  const std::string other = "is not a journal of this version of whyoom";
  for (const auto& [text, why] : {std::pair<std::string, std::string>("step 1\n", other),
                                  {"{}", other},
                                  {std::string(100000, '\0'), other},
                                  {good.substr(1), other}}) {
    folder.scratch.Write("journal", text);
    CHECK(folder.Error().starts_with(fmt::format("--resume: '{}' {}", folder.path, why)));
    CHECK((ReadText(folder.path) == text));
  }
}

TEST_CASE("a journal must be a regular file that belongs to the user and has no second name", "[cli]") {
  const Folder folder;
  const std::string victim = folder.scratch.Write("victim", "kept");
  const auto refuse = [&](const std::string& why) {
    INFO(why);
    CHECK(folder.Error().find(why) != std::string::npos);
    fs::remove(folder.path);
  };
  const std::string not_own = "is not a regular file of your own with one name";
  REQUIRE(mkfifo(folder.path.c_str(), 0666) == 0);
  refuse(not_own);
  fs::create_directory(folder.path);
  refuse("cannot be opened: Is a directory");
  fs::create_symlink(victim, folder.path);
  refuse("cannot be opened");
  fs::create_symlink(folder.scratch.path() + "/made", folder.path);
  refuse("cannot be opened");
  fs::create_hard_link(victim, folder.path);
  refuse(not_own);
  CHECK_FALSE(fs::exists(folder.scratch.path() + "/made"));
  CHECK(ReadText(victim) == "kept");
  if (geteuid() != 0) return;
  std::ofstream(folder.path) << "";
  REQUIRE(chown(folder.path.c_str(), kNobody, kNobody) == 0);
  refuse(not_own);
}

TEST_CASE("a journal cannot be opened twice", "[cli]") {
  const Folder folder;
  const ResumeJournal journal(folder.path, folder.rules, "settings");
  CHECK(folder.Error().find("cannot be locked") != std::string::npos);
}

}  // namespace TEST_FILE
