// Which folders --resume accepts, and which of their files it uses.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "built_in_rules.h"
#include "catch.h"
#include "cli/resume.h"
#include "input/error.h"
#include "process.h"

using namespace whyoom;
namespace fs = std::filesystem;

namespace TEST_FILE {

constexpr uid_t kNobody = 65534;

struct Folder {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/resume";
  const RuleSource rules = RuleSource(BuiltInRules());
  const std::string log = scratch.Write("a.log", "12345");

  ResumeFolder Open(const std::string& settings = "settings") const { return {path, rules, settings}; }

  // Stores a report for the log and returns its file.
  std::string Store() const {
    ResumeFolder folder(path, rules, "settings");
    const std::string file = folder.FileOf(log);
    Report report;
    report.bytes = 5;
    folder.Store(file, report);
    CHECK_FALSE(folder.problem());
    return file;
  }

  // Empty if the folder is accepted.
  std::string Error() const {
    try {
      Open();
    } catch (const whyoom::Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_CASE("a result is found only for the same path, stamp and settings", "[cli]") {
  const Folder folder;
  const std::string file = folder.Store();
  CHECK(folder.Open().FileOf(folder.log) == file);
  CHECK(folder.Open().Load(file)->bytes == 5);
  CHECK(folder.Open("other").FileOf(folder.log) != file);
  CHECK(folder.Open().FileOf(folder.scratch.Write("b.log", "12345")) != file);
  fs::last_write_time(folder.log, fs::last_write_time(folder.log) + std::chrono::nanoseconds(1));
  CHECK(folder.Open().FileOf(folder.log) != file);
  CHECK_FALSE(folder.Open().Load(folder.Open().FileOf(folder.log)));
}

TEST_CASE("only regular files with printable names have results", "[cli]") {
  const Folder folder;
  const ResumeFolder resume = folder.Open();
  for (const std::string& other : {std::string("-"), folder.scratch.path(), folder.scratch.path() + "/missing",
                                   std::string("/dev/null"), folder.scratch.Write("c\n\xff", "12345")}) {
    INFO(other);
    CHECK(resume.FileOf(other).empty());
  }
  CHECK_FALSE(resume.FileOf(folder.scratch.Write("b \xc3\xa9\"\\.log", "12345")).empty());
}

TEST_CASE("a truncated or damaged result means that the input is read again", "[cli]") {
  const Folder folder;
  const std::string file = folder.Store();
  const std::string whole = ReadText(file);
  const std::string name = "resume/" + fs::path(file).filename().string();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.scratch.Write(name, whole.substr(0, size));
    CHECK_FALSE(folder.Open().Load(file));
  }
  for (const std::string text : {"", "{", "{}", "[1]", "{\"path\":1}", "\xff"}) {
    INFO(text);
    folder.scratch.Write(name, text);
    CHECK_FALSE(folder.Open().Load(file));
  }
  CHECK(folder.Store() == file);
  CHECK(folder.Open().Load(file));
}

TEST_CASE("the files of the folder are no inputs, but other files in it are", "[cli]") {
  const Folder folder;
  const std::string file = folder.Store();
  const ResumeFolder resume = folder.Open();
  CHECK(resume.Contains(file));
  CHECK(resume.Contains(folder.path + "/." + fs::path(file).filename().string() + ".whyoom-1"));  // of a killed run
  CHECK_FALSE(resume.Contains(folder.path + "/a.log"));
  CHECK_FALSE(resume.Contains(folder.scratch.path() + "/a.whyoom-resume"));
}

TEST_CASE("results belong to a folder to which only the user may write", "[cli]") {
  const Folder folder;
  const auto refuse = [&](const std::string& why) {
    INFO(why);
    CHECK(folder.Error().starts_with("--resume: '" + folder.path + "' " + why));
    fs::remove(folder.path);
  };
  const std::string not_own = "is not a folder to which only you may write";
  folder.scratch.Write("resume", "kept");
  CHECK(folder.Error().find(not_own) != std::string::npos);
  CHECK(ReadText(folder.path) == "kept");
  refuse(not_own);
  fs::create_directory_symlink(folder.scratch.path(), folder.path);
  refuse(not_own);
  fs::create_directory(folder.path);
  REQUIRE(chmod(folder.path.c_str(), 0777) == 0);
  refuse(not_own);
  CHECK(folder.Error().empty());
  CHECK((fs::status(folder.path).permissions() & fs::perms::others_all) == fs::perms::none);
  if (geteuid() != 0) return;
  REQUIRE(chown(folder.path.c_str(), kNobody, kNobody) == 0);
  refuse(not_own);
}

TEST_CASE("a result that cannot be stored is a note: every input was read", "[cli]") {
  const Folder folder;
  ResumeFolder resume = folder.Open();
  fs::remove(folder.path);
  resume.Store(resume.FileOf(folder.log), Report());
  REQUIRE(resume.problem());
  CHECK(resume.problem()->kind == Problem::kNote);
  CHECK(resume.problem()->what ==
        "cannot store the results of some inputs (No such file or directory), which the next run reads again");
}

}  // namespace TEST_FILE
